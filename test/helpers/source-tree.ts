import { readFileSync, readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import ts from "typescript";

export function readSourceTree(top: string, folders: string[]): SourceFile[] {
  return folders
    .flatMap((folder) => sourcePaths(top, folder))
    .map((file) => parseSource(file, readFileSync(path.join(top, file), "utf8")));
}

/** The input of the architecture rules. Paths are relative to the project's root, with forward slashes. */
export type SourceFile = {
  path: string;
  imports: Import[];
  /** The numbers of the lines that read `process.env`, including by destructuring or import. */
  environmentLines: number[];
};

export type Import = {
  /** A project path (`gateway/errors.ts`), a package (`@trpc/server/adapters/express`) or a built-in (`node:fs`). */
  to: string;
  line: number;
  typeOnly: boolean;
  /** The exported names, or `*` for the whole module. */
  names: string[];
};

function parseSource(file: string, text: string): SourceFile {
  const script = file.endsWith(".svelte") ? onlyScripts(text) : text;
  const source = ts.createSourceFile(file, script, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
  const parsed: SourceFile = {
    path: file,
    imports: [],
    environmentLines: [],
  };
  const visit = (node: ts.Node): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const imported = readImport(node);
    if (imported) parsed.imports.push({ ...imported, to: resolve(file, imported.to), line });
    if (readsEnvironment(node)) parsed.environmentLines.push(line);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return parsed;
}

export function parseSources(texts: Record<string, string>): SourceFile[] {
  return Object.entries(texts).map(([file, text]) => parseSource(file, text));
}

function readImport(node: ts.Node): Omit<Import, "line"> | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const { importClause } = node;
    const bindings = importClause?.namedBindings;
    const specifiers = bindings && ts.isNamedImports(bindings) ? [...bindings.elements] : [];
    const names = specifiers.map(exportedName);
    if (importClause?.name) names.push("default");
    if (bindings && ts.isNamespaceImport(bindings)) names.push("*");
    const isTypeClause = importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    const typeOnly = isTypeClause || areTypes(specifiers, names);
    return { to: node.moduleSpecifier.text, typeOnly, names };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    const { exportClause } = node;
    const specifiers = exportClause && ts.isNamedExports(exportClause) ? [...exportClause.elements] : [];
    const names = specifiers.length > 0 ? specifiers.map(exportedName) : ["*"];
    return {
      to: node.moduleSpecifier.text,
      typeOnly: node.isTypeOnly || areTypes(specifiers, names),
      names,
    };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [target] = node.arguments;
    if (target && ts.isStringLiteralLike(target)) return { to: target.text, typeOnly: false, names: ["*"] };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument;
    const names = [node.qualifier?.getText() ?? "*"];
    if (ts.isStringLiteral(literal)) return { to: literal.text, typeOnly: true, names };
  }
  return undefined;
}

function exportedName(specifier: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (specifier.propertyName ?? specifier.name).text;
}

function areTypes(specifiers: (ts.ImportSpecifier | ts.ExportSpecifier)[], names: string[]): boolean {
  return (
    specifiers.length > 0 && specifiers.length === names.length && specifiers.every((one) => one.isTypeOnly)
  );
}

function readsEnvironment(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return node.name.text === "env" && isProcess(node.expression);
  if (ts.isElementAccessExpression(node)) {
    const { argumentExpression: key, expression } = node;
    return ts.isStringLiteralLike(key) && key.text === "env" && isProcess(expression);
  }
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name)) {
    const names = node.name.elements.map((element) => (element.propertyName ?? element.name).getText());
    return names.includes("env") && node.initializer !== undefined && isProcess(node.initializer);
  }
  const imported = readImport(node);
  return imported !== undefined && /^(node:)?process$/.test(imported.to) && imported.names.includes("env");
}

function isProcess(expression: ts.Expression): boolean {
  return /^(globalThis\.|global\.)?process$/.test(expression.getText());
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith(".")) return path.posix.join(path.posix.dirname(from), specifier);
  return isBuiltin(specifier) && !specifier.startsWith("node:") ? `node:${specifier}` : specifier;
}

/** Blanks a component's markup and styles but keeps line breaks, so that line numbers stay valid. */
function onlyScripts(component: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, " ");
  let script = "";
  let end = 0;
  for (const match of component.matchAll(/(?<=<script[^>]*>)[^]*?(?=<\/script>)/g)) {
    script += blank(component.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return script + blank(component.slice(end));
}

export function sourcePaths(top: string, folder: string): string[] {
  let entries;
  try {
    entries = readdirSync(path.join(top, folder), { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const file = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return isGenerated(entry.name) ? [] : sourcePaths(top, file);
    return /\.(ts|svelte)$/.test(entry.name) ? [file] : [];
  });
}

function isGenerated(folder: string): boolean {
  return folder.startsWith(".") || ["node_modules", "dist", "fixtures"].includes(folder);
}
