import { createRequire } from "node:module";
import { Language, type Node, Parser } from "web-tree-sitter";

/** A node of the syntax tree. A node whose only child is named is replaced by the child. */
export type Tree = { type: string; text: string; line: number; children: Tree[] };

export type ParsePowerShell = (text: string) => { tree: Tree; mistakes: string[] };

/** Loads tree-sitter's parser as WebAssembly, which needs no native build. */
export async function createPowerShellParser(): Promise<ParsePowerShell> {
  const require = createRequire(import.meta.url);
  await Parser.init();
  const parser = new Parser();
  const file = require.resolve("tree-sitter-powershell/tree-sitter-powershell.wasm");
  parser.setLanguage(await Language.load(file));
  // The same texts are parsed repeatedly, and reading a tree out of WebAssembly is slow.
  const known = new Map<string, { tree: Tree; mistakes: string[] }>();
  return (text) => {
    const before = known.get(text);
    if (before) return before;
    const parsed = parser.parse(text);
    if (!parsed) throw new Error("The parser gave up.");
    const mistakes: string[] = [];
    const tree = toTree(parsed.rootNode, mistakes);
    parsed.delete();
    known.set(text, { tree, mistakes });
    return { tree, mistakes };
  };
}

function toTree(node: Node, mistakes: string[]): Tree {
  const line = node.startPosition.row + 1;
  if (node.isError || node.isMissing) {
    mistakes.push(
      `line ${line}: ${node.isError ? "not understood" : `no ${node.type}`}: ${node.text.slice(0, 80)}`,
    );
  }
  // PowerShell also ends a single-quoted string at a typographic quote, but the grammar does not.
  if (
    node.type === "verbatim_string_characters" &&
    !/^'(?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*'$/.test(node.text)
  ) {
    mistakes.push(`line ${line}: a quote that ends the text: ${node.text.slice(0, 80)}`);
  }
  const children = node.children.flatMap((child) => (child ? toTree(child, mistakes) : []));
  const only = node.namedChildCount === 1 && children.length === 1 ? children[0] : undefined;
  return only ?? { type: node.type, text: node.text, line, children };
}

export function* walk(tree: Tree): Generator<Tree> {
  yield tree;
  for (const child of tree.children) yield* walk(child);
}

/** Returns the value of a single-quoted string. PowerShell also treats typographic quotes as single quotes. */
export function readVerbatim(text: string): string {
  return text.slice(1, -1).replaceAll(/(['\u2018-\u201b])['\u2018-\u201b]/g, "$1");
}
