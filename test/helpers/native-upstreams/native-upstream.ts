import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { ExecutionContext } from "ava";
import { createUpstream, type SeenRequest } from "../scripted-upstream.ts";
import { VendorRefusal } from "./vendor-refusal.ts";

/**
 * Starts an upstream that speaks one vendor's API, with a scripted model. The upstream rejects requests that the
 * vendor would reject.
 */
export async function createNativeUpstream(
  t: Pick<ExecutionContext, "teardown">,
  form: VendorForm,
  script: (asked: Asked) => Answer | VendorRefusal,
): Promise<NativeUpstream> {
  const asked: Asked[] = [];
  const refusals: string[] = [];
  const abandoned: Asked[] = [];
  const { url } = await createUpstream(t, async (request, response) => {
    try {
      const question = form.read(request);
      asked.push(question);
      response.on("close", () => response.writableFinished || abandoned.push(question));
      const scripted = script(question);
      if (scripted instanceof VendorRefusal) throw scripted;
      const answer = question.isThinking ? scripted : withoutThoughts(scripted);
      if (question.stream) await sendStream(response, form, answer, question);
      else if (answer.ending !== "silence") sendJson(response, 200, form.answer(answer, question));
    } catch (error) {
      const refusal =
        error instanceof VendorRefusal ? error : new VendorRefusal("invalid", `A broken test: ${error}`);
      refusals.push(refusal.message);
      const { status, headers = {}, body } = form.refuse(refusal);
      sendJson(response, status, body, headers);
    }
  });
  const { kind, credential, model } = form;
  return { kind, model, apiKey: credential, baseUrl: form.baseUrl(url), asked, refusals, abandoned };
}

export type NativeUpstream = {
  kind: ProviderKind;
  baseUrl: string;
  apiKey: string;
  model: string;
  /** Valid requests, oldest first. */
  asked: Asked[];
  refusals: string[];
  /** Requests whose connection closed before the response was complete. */
  abandoned: Asked[];
};

/** A vendor's API, based on its documentation. */
export type VendorForm = {
  kind: ProviderKind;
  credential: string;
  model: string;
  /** The base URL as entered in the console. */
  baseUrl(origin: string): string;
  /** Throws a `VendorRefusal` if the vendor would reject the request. */
  read(request: SeenRequest): Asked;
  answer(answer: Answer, asked: Asked): object;
  streamContentType: string;
  /** The first events, with all content. `streamEnd` returns the rest. */
  streamStart(answer: Answer, asked: Asked): Buffer[];
  streamEnd(answer: Answer, asked: Asked): Buffer[];
  streamError(message: string): Buffer;
  refuse(refusal: VendorRefusal): { status: number; headers?: Record<string, string>; body: object };
};

export type ProviderKind = "openai-compatible" | "anthropic" | "gemini" | "azure-openai" | "bedrock";

/** A request as the model sees it, independent of the vendor's API. */
export type Asked = {
  stream: boolean;
  system: string;
  turns: Turn[];
  tools: { name: string; description: string; parameters: unknown }[];
  forcedTool: string | null;
  /** The JSON schema of the response. */
  schema: unknown;
  temperature?: number | null;
  outputTokensMax: number | null;
  stop: string[];
  isThinking: boolean;
  /** Whether the stream ends with the usage, which chat completions send only on request. */
  includesUsage: boolean;
  /** Whether the request refers to state that the vendor has stored. */
  usesState?: boolean;
};

/** Adjacent messages of one role form one turn. */
export type Turn = { role: "user" | "assistant"; parts: Part[] };

export type Part =
  | { text: string }
  | { image: string; mediaType: string }
  | { thought: string }
  | { call: string; input: unknown }
  /** The result of a call. `ofCall` is the call's position among the conversation's calls, from 0. */
  | { result: string; ofCall: number };

/** The model's response, in its streamed pieces. */
export type Answer = {
  /** The client receives thoughts only if the request enables them. */
  thoughts: string[];
  text: string[];
  calls: { name: string; input: object }[];
  finish: "stop" | "length" | "tool_calls" | "content_filter";
  usage: { input: number; cached: number; cacheWritten: number; output: number; thinking: number };
  /**
   * The end of a stream: `break` closes the connection, `early` ends the HTTP body before the vendor's last
   * events, and `silence` leaves the stream open.
   */
  ending: "complete" | "error" | "break" | "early" | "silence";
};

/** Stands for a request, which a form needs to build a response outside of a conversation. */
export const anyQuestion: Asked = {
  stream: true,
  system: "",
  turns: [],
  tools: [],
  forcedTool: null,
  schema: null,
  outputTokensMax: 256,
  stop: [],
  isThinking: false,
  includesUsage: true,
};

/** Returns a response in the vendor's format, whole and as a stream, for a scripted upstream. */
export function buildAnswer(
  form: VendorForm,
  answer: Answer,
  question = anyQuestion,
): { whole: string; events: Buffer[] } {
  return {
    whole: JSON.stringify(form.answer(answer, question)),
    events: [...form.streamStart(answer, question), ...form.streamEnd(answer, question)],
  };
}

export function addPart(turns: Turn[], role: Turn["role"], part: Part): void {
  const last = turns.at(-1);
  if (last?.role === role) last.parts.push(part);
  else turns.push({ role, parts: [part] });
}

/** The number makes the next call's ID unique. */
export function countCalls(turns: Turn[]): number {
  return turns.flatMap(({ parts }) => parts).filter((part) => "call" in part).length;
}

function withoutThoughts(answer: Answer): Answer {
  return { ...answer, thoughts: [], usage: { ...answer.usage, thinking: 0 } };
}

export const midStreamMessage = "The model stumbled over its own words.";

async function sendStream(response: ServerResponse, form: VendorForm, answer: Answer, asked: Asked) {
  response.writeHead(200, { "content-type": form.streamContentType });
  const events = form.streamStart(answer, asked);
  if (answer.ending === "complete") events.push(...form.streamEnd(answer, asked));
  if (answer.ending === "error") events.push(form.streamError(midStreamMessage));
  for (const piece of cutUp(Buffer.concat(events))) {
    if (!response.write(piece)) await once(response, "drain");
    // A separate turn of the event loop sends each piece in a separate packet.
    await new Promise((resolve) => setImmediate(resolve));
    if (response.destroyed) return;
  }
  if (answer.ending === "break") response.socket?.destroy();
  else if (answer.ending !== "silence") response.end();
}

function sendJson(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  for (const piece of cutUp(Buffer.from(JSON.stringify(body)))) response.write(piece);
  response.end();
}

/**
 * Cuts the bytes into awkward pieces: several events in one, one event in several, and four-byte characters cut
 * after their first byte.
 */
function cutUp(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  let round = 0;
  while (start < bytes.length) {
    const longest = bytes.subarray(start, start + (sizes[round++ % sizes.length] ?? 1));
    const inCharacter = longest.findIndex((byte) => byte >= 0xf0) + 1;
    const piece = inCharacter > 0 ? longest.subarray(0, inCharacter) : longest;
    pieces.push(piece);
    start += piece.length;
  }
  return pieces;
}

const sizes = [1, 700, 13, 2, 150, 1400, 3];
