import retextEnglish from "retext-english";
import retextPassive from "retext-passive";
import { toString } from "nlcst-to-string";
import { unified } from "unified";
import { visit } from "unist-util-visit";
import { VFile } from "vfile";
import { codeWord, type Text } from "./text.ts";
import { retiredPhrases } from "./retired-phrases.ts";

export type Finding = { file: string; line: number; problem: string; text: string };

const wordsMax = 25;
const titleLengthMax = 80;
const commentLengthMax = 220;

const english = unified().use(retextEnglish).use(retextPassive).freeze();

/** Returns violations of the rules in CONTRIBUTING.md: long texts, vague subjects, hidden agents, retired phrases. */
export function checkProse({ file, line, kind, text }: Text): Finding[] {
  const problems: [problem: string, text: string][] = [];
  if (kind === "title" && text.length > titleLengthMax) {
    problems.push([`title of ${text.length} characters, at most ${titleLengthMax}`, text]);
  }
  if (kind === "comment") problems.push(...checkComment(text));
  for (const { pattern, instead } of retiredPhrases) {
    const [phrase] = pattern.exec(text) ?? [];
    if (phrase) problems.push([`"${phrase}" is retired: ${instead}`, text]);
  }
  for (const paragraph of text.split(/\n\s*\n|\n(?=[-*|] |\d+\. )/)) {
    problems.push(...checkSentences(paragraph.replaceAll(/\s+/g, " ")));
  }
  return problems.map(([problem, where]) => ({ file, line, problem, text: where.replaceAll(/\s+/g, " ") }));
}

function checkComment(text: string): [string, string][] {
  const problems: [string, string][] = [];
  const [opening] = /^(Who|Whom|Whose|What|Why|How|Which)\b/.exec(text) ?? [];
  if (opening) problems.push([`comment begins with "${opening}": name the subject with a noun`, text]);
  // The limit applies to the first paragraph. A tag such as `@param` starts a new paragraph.
  const { length } = (text.split(/\n\s*\n/)[0] ?? "").replaceAll(/\s+/g, " ").trim();
  if (length > commentLengthMax) {
    problems.push([`comment of ${length} characters, at most ${commentLengthMax}`, text]);
  }
  return problems;
}

function checkSentences(paragraph: string): [string, string][] {
  const problems: [string, string][] = [];
  const source = new VFile(paragraph);
  const tree = english.parse(source);
  visit(tree, "SentenceNode", (sentence) => {
    let words = 0;
    visit(sentence, "WordNode", () => void words++);
    if (words > wordsMax)
      problems.push([`sentence of ${words} words, at most ${wordsMax}`, toString(sentence)]);
  });
  english.runSync(tree, source);
  for (const { place } of source.messages) {
    // "is closed" is plain English. "is closed by the gateway" hides the subject at the end.
    const end = place && "end" in place ? place.end.offset : undefined;
    if (end !== undefined && agent.test(paragraph.slice(end))) {
      problems.push(["passive with an agent: make the agent the subject", paragraph]);
    }
  }
  return problems;
}

const agent = new RegExp(
  String.raw`^ by (the|a|an|its|their|${codeWord}) (?!default\b|name\b|hand\b|id\b)`,
  "i",
);
