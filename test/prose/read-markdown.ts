import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import { codeWord, type Text } from "./text.ts";

export function readMarkdown(file: string, content: string): Text[] {
  const texts: Text[] = [];
  const visit = (node: Node): void => {
    if (node.type === "paragraph" || node.type === "heading" || node.type === "tableCell") {
      const text = plainTextOf(node).trim();
      if (text !== "") texts.push({ file, line: node.position?.start.line ?? 1, kind: "document", text });
    } else node.children?.forEach(visit);
  };
  visit(
    fromMarkdown(content, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] }) as Node,
  );
  return texts;
}

type Node = {
  type: string;
  value?: string;
  children?: Node[];
  position?: { start: { line: number } };
};

function plainTextOf(node: Node): string {
  if (node.type === "inlineCode" || node.type === "image" || node.type === "html") return codeWord;
  return node.value ?? (node.children ?? []).map(plainTextOf).join("");
}
