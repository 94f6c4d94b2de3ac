import type { DialectRequest } from "../dialect.ts";
import { setImmediate } from "node:timers/promises";
import { isObject, listOf } from "../../wire/json.ts";
import { currentTools } from "./tools.ts";

/**
 * Estimates input tokens for upstreams without `count_tokens`, with the encoding of OpenAI's newer models.
 * The estimate is close for other models, but not for Claude 4.7 and later.
 * https://platform.claude.com/docs/en/build-with-claude/token-counting
 */
export async function countTokens({ body }: Pick<DialectRequest, "body">): Promise<{ input_tokens: number }> {
  const { texts, tokens } = collectCountable(body);
  return { input_tokens: tokens + (await countTextTokens(texts)) };
}

/**
 * Counts with a tokenizer that is loaded on first use (70 MB, 200 ms). Long texts are sampled evenly, and the
 * counting regularly yields to other requests.
 */
export async function countTextTokens(texts: readonly string[]): Promise<number> {
  const { countTokens, setMergeCacheSize } = await import("gpt-tokenizer/encoding/o200k_base");
  // The tokenizer's cache would retain pieces of users' texts.
  setMergeCacheSize(0);
  let length = 0;
  for (const text of texts) length += text.length;
  const step = Math.ceil(length / charactersMax);
  let counted = 0;
  let tokens = 0;
  let index = 0;
  for (const slice of slicesOf(texts)) {
    if (index++ % step !== 0) continue;
    counted += slice.length;
    // Text such as `<|endoftext|>` is counted as ordinary text.
    tokens += countTokens(slice, { disallowedSpecial: new Set() });
    if (index % (step * slicesPerTurn) === 1) await setImmediate();
  }
  return counted === 0 ? 0 : Math.round((tokens / counted) * length);
}

/** Splits texts into slices, if possible at the end of a word. */
function* slicesOf(texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    for (let start = 0; start < text.length;) {
      const slice = text.slice(start, start + sliceLength);
      const space = slice.lastIndexOf(" ");
      const isCut = start + slice.length < text.length && space > sliceLength / 2;
      yield isCut ? slice.slice(0, space) : slice;
      start += isCut ? space : slice.length;
    }
  }
}

/** Counting this many characters takes about 20 ms for ordinary text, and half a second for the slowest text. */
const charactersMax = 131_072;
const sliceLength = 256;
const slicesPerTurn = 8;

/** Collects a request's texts, and estimates the tokens of its other content. Ignores reasoning and invalid content. */
export function collectCountable(body: Record<string, unknown>): Countable {
  const countable: Countable = { texts: [], tokens: 0 };
  addContent(countable, body["system"]);
  for (const message of listOf(body["messages"])) {
    countable.tokens += messageTokens;
    if (isObject(message)) addContent(countable, message["content"]);
  }
  const tools = currentTools(body);
  for (const { tool } of tools) addTool(countable, tool);
  if (tools.length > 0) countable.tokens += toolPreambleTokens;
  return countable;
}

type Countable = { texts: string[]; tokens: number };

function addContent(countable: Countable, content: unknown): void {
  if (typeof content === "string") countable.texts.push(content);
  for (const block of listOf(content)) if (isObject(block)) addBlock(countable, block);
}

function addBlock(countable: Countable, block: Record<string, unknown>): void {
  switch (block["type"]) {
    case "image":
      countable.tokens += imageTokens;
      break;
    case "document":
      addText(countable, block["title"]);
      addText(countable, block["context"]);
      addSource(countable, block["source"]);
      break;
    case "tool_use":
      addText(countable, block["name"]);
      addJson(countable, block["input"]);
      break;
    // The model does not see reasoning of earlier turns again.
    case "thinking":
    case "redacted_thinking":
      break;
    default:
      addText(countable, block["text"]);
      addText(countable, block["tool_name"]);
      addContent(countable, block["content"]);
  }
}

function addSource(countable: Countable, source: unknown): void {
  const { type, data, content } = isObject(source) ? source : {};
  if (type === "text") addText(countable, data);
  else if (type === "content") addContent(countable, content);
  else {
    const bytes = typeof data === "string" ? data.length * 0.75 : 0;
    countable.tokens += Math.max(1, Math.round(bytes / pageBytes)) * pageTokens;
  }
}

/** Counts the schema as JSON, because a model receives a tool's schema as text. */
function addTool(countable: Countable, tool: unknown): void {
  if (!isObject(tool)) return;
  addText(countable, tool["name"]);
  addText(countable, tool["description"]);
  addJson(countable, tool["input_schema"]);
}

function addJson(countable: Countable, value: unknown): void {
  if (value !== undefined) countable.texts.push(JSON.stringify(value));
}

function addText(countable: Countable, text: unknown): void {
  if (typeof text === "string") countable.texts.push(text);
}

/** https://developers.openai.com/cookbook/examples/how_to_count_tokens_with_tiktoken */
const messageTokens = 3;

/** The maximum of an image for Claude before 4.7. https://platform.claude.com/docs/en/build-with-claude/vision */
const imageTokens = 1_600;

/**
 * A page has 1,500 to 3,000 tokens. The number of pages is estimated from the size of the document.
 * https://platform.claude.com/docs/en/build-with-claude/pdf-support#estimate-your-costs
 */
const pageTokens = 2_250;
const pageBytes = 50_000;

/** Anthropic adds 350 to 530 tokens before tools. Claude Code 2.1.329 subtracts 500 when it counts tools one by one. */
const toolPreambleTokens = 500;
