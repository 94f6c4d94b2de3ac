import ts from "typescript";
import { readShell } from "./read-shell.ts";
import { codeWord, type Text, withoutMarks } from "./text.ts";

type Source = { file: string; content: string; firstLine?: number };

export function readTypeScript({ file, content, firstLine = 1 }: Source): Text[] {
  const source = ts.createSourceFile(file, content, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line + firstLine;
  const texts: Text[] = readComments(source).map(({ start, text }) => ({
    file,
    line: lineOf(start),
    kind: "comment",
    text: withoutMarks(text),
  }));
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && ts.isNoSubstitutionTemplateLiteral(node.template)) {
      const line = lineOf(node.template.getStart(source));
      for (const found of readShell(node.template.rawText ?? "")) {
        texts.push({ ...found, file, line: line + found.line });
      }
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = plainTextOf(node);
      const kind = kindOf(node, file, text);
      if (kind) texts.push({ file, line: lineOf(node.getStart(source)), kind, text: withoutMarks(text) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

function kindOf(node: ts.StringLiteralLike | ts.TemplateExpression, file: string, text: string) {
  const { parent } = node;
  const isTest = file.startsWith("test/");
  if (ts.isCallExpression(parent) && parent.arguments[0] === node) {
    const isTitle = isTest && /^(test|browserTest)(\.|$)/.test(parent.expression.getText());
    if (isTitle) return "title";
  }
  // Other strings of tests are data. Elsewhere, a text of at least four words that starts like a sentence is prose.
  const isSentence = /^[A-Z`“"']/.test(text) && text.split(/\s+/).length >= 4 && !isStatement.test(text);
  if (isTest || !isSentence) return null;
  return file.startsWith("console/") ? "interface" : "message";
}

const isStatement = /^(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|SET|PRAGMA|SHOW)\b|[{}<>\\]|\n/;

function plainTextOf(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  if (ts.isStringLiteralLike(node)) return node.text;
  return node.head.text + node.templateSpans.map(({ literal }) => codeWord + literal.text).join("");
}

type Comment = { start: number; end: number; text: string };

/** Line comments on successive lines are one comment. */
function readComments(source: ts.SourceFile): Comment[] {
  const { text } = source;
  const ranges = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      ranges.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) ranges.set(range.pos, range);
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
  const comments: Comment[] = [];
  for (const { pos, end, kind } of [...ranges.values()].sort((one, other) => one.pos - other.pos)) {
    const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia;
    const comment = { start: pos, end, text: withoutDelimiters(text.slice(pos, end)) };
    const previous = comments.at(-1);
    if (isLine && previous && /^\n[ \t]*$/.test(text.slice(previous.end, pos))) {
      previous.text += `\n${comment.text}`;
      previous.end = end;
    } else comments.push(comment);
  }
  return comments.filter((comment) => !isDirective.test(comment.text));
}

const isDirective = /^\/? ?<(reference|!)|^(oxlint|oxfmt|svelte)-|^@ts-|^#!/;

function withoutDelimiters(comment: string): string {
  return comment
    .replace(/^\/\*\*?|^\/\/ ?/, "")
    .replace(/\*\/$/, "")
    .replaceAll(/^[ \t]*\*? ?/gm, "")
    .replaceAll(/^@(param|returns|throws)( \w+)?\s/gm, "\n\n")
    .trim();
}
