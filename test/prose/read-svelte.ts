import { type AST, parse } from "svelte/compiler";
import { readTypeScript } from "./read-typescript.ts";
import { codeWord, type Text } from "./text.ts";

export function readSvelte(file: string, content: string): Text[] {
  const root = parse(content, { modern: true, filename: file });
  const lineOf = (position: number) => content.slice(0, position).split("\n").length;
  const texts: Text[] = [];
  for (const script of [root.module, root.instance]) {
    if (!script) continue;
    const start = script.content as unknown as { start: number; end: number };
    const code = content.slice(start.start, start.end);
    texts.push(...readTypeScript({ file, content: code, firstLine: lineOf(start.start) }));
  }
  const add = (position: number, text: string) => {
    const plain = text.replaceAll(/\s+/g, " ").trim();
    if (/[a-z]{2}/i.test(plain.replaceAll(codeWord, ""))) {
      texts.push({ file, line: lineOf(position), kind: "interface", text: plain });
    }
  };
  const addCode = ({ start, end }: AST.ExpressionTag) => {
    const code = content.slice(start + 1, end - 1);
    texts.push(...readTypeScript({ file, content: `(${code})`, firstLine: lineOf(start) }));
  };
  readFragment(root.fragment, { add, addCode });
  return texts;
}

type Sink = { add: (position: number, text: string) => void; addCode: (tag: AST.ExpressionTag) => void };

/** Reads adjacent texts, expressions and inline elements as one text. */
function readFragment({ nodes }: AST.Fragment, sink: Sink): void {
  let start = -1;
  let text = "";
  const flush = () => {
    if (start !== -1) sink.add(start, text);
    start = -1;
    text = "";
  };
  for (const node of nodes) {
    if (node.type === "Text") {
      if (start === -1 && node.data.trim() !== "") start = node.start;
      text += node.data;
    } else if (node.type === "ExpressionTag" || isInline(node)) text += ` ${codeWord} `;
    else flush();
    if (node.type === "ExpressionTag") sink.addCode(node);
    if ("attributes" in node) readAttributes(node, sink);
    for (const child of fragmentsOf(node)) readFragment(child, sink);
  }
  flush();
}

function isInline(node: AST.Fragment["nodes"][number]): boolean {
  return node.type === "RegularElement" && ["a", "b", "code", "em", "strong", "kbd"].includes(node.name);
}

function fragmentsOf(node: AST.Fragment["nodes"][number]): AST.Fragment[] {
  const fragments = Object.values(node).filter(isFragment);
  return node.type === "SnippetBlock" ? [node.body] : fragments;
}

function isFragment(value: unknown): value is AST.Fragment {
  return typeof value === "object" && value !== null && "type" in value && value.type === "Fragment";
}

const readAttribute =
  /^(label|title|description|placeholder|help|hint|alt|aria-label|empty|message|confirm)$/;

function readAttributes({ attributes }: AST.ElementLike, { add, addCode }: Sink): void {
  for (const attribute of attributes) {
    if (attribute.type !== "Attribute" || !readAttribute.test(attribute.name)) continue;
    if (!Array.isArray(attribute.value)) {
      if (attribute.value !== true) addCode(attribute.value);
      continue;
    }
    const text = attribute.value.map((part) => (part.type === "Text" ? part.data : codeWord)).join("");
    add(attribute.start, text);
  }
}
