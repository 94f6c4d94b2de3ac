import type { ServerResponse } from "node:http";
import { once } from "node:events";
import type { ExecutionContext } from "ava";
import { createUpstream, type SeenRequest } from "../scripted-upstream.ts";
import { cutUp } from "./cut-up.ts";
import { VendorRefusal } from "./vendor-refusal.ts";

/**
 * An upstream that speaks one vendor's API, byte by byte, and whose model says what the script says. It refuses what the
 * vendor would refuse, in the vendor's words. It stops with the test.
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
  /** What to tell the console about it. */
  kind: ProviderKind;
  baseUrl: string;
  apiKey: string;
  model: string;
  /** What its model was asked, oldest first. */
  asked: Asked[];
  /** What it said of the requests it refused. */
  refusals: string[];
  /** The questions whose answer was not waited for. */
  abandoned: Asked[];
};

/** How a vendor's API looks: pure functions, written from its documentation. */
export type VendorForm = {
  kind: ProviderKind;
  credential: string;
  model: string;
  /** What stands in front of the API's own paths, as the console wants it. */
  baseUrl(origin: string): string;
  /** Throws a `VendorRefusal` for all that the vendor would not take. */
  read(request: SeenRequest): Asked;
  answer(answer: Answer, asked: Asked): object;
  streamContentType: string;
  /** The events of a stream up to the last piece of content, and from there to the end. */
  streamStart(answer: Answer, asked: Asked): Buffer[];
  streamEnd(answer: Answer, asked: Asked): Buffer[];
  /** How an error shows in the middle of a stream. */
  streamError(message: string): Buffer;
  refuse(refusal: VendorRefusal): { status: number; headers?: Record<string, string>; body: object };
};

export type ProviderKind = "openai-compatible" | "anthropic" | "gemini" | "azure-openai" | "bedrock";

/** A request as the model sees it, the same whichever API it came through. */
export type Asked = {
  stream: boolean;
  system: string;
  turns: Turn[];
  tools: { name: string; description: string; parameters: unknown }[];
  /** A tool that must be called. */
  forcedTool: string | null;
  /** The JSON schema of the answer. */
  schema: unknown;
  temperature?: number | null;
  outputTokensMax: number | null;
  stop: string[];
  /** Whether thoughts were asked for. */
  isThinking: boolean;
  /** Whether a stream is to end with its counts, where that is a choice. */
  includesUsage: boolean;
};

/** Neighbouring messages of one role are one turn. */
export type Turn = { role: "user" | "assistant"; parts: Part[] };

export type Part =
  | { text: string }
  | { image: string; mediaType: string }
  | { thought: string }
  | { call: string; input: unknown }
  /** The result of the so-manieth call of the conversation, from 0. */
  | { result: string; ofCall: number };

/** What the model says, in the pieces in which it streams it. */
export type Answer = {
  /** Said only where thoughts were asked for. */
  thoughts: string[];
  text: string[];
  calls: { name: string; input: object }[];
  finish: "stop" | "length" | "tool_calls" | "content_filter";
  usage: { input: number; cached: number; cacheWritten: number; output: number; thinking: number };
  /**
   * How a stream ends: as it should; with an error event; by a connection that breaks; by an end that is regular for HTTP but
   * not for the vendor; or not at all.
   */
  ending: "complete" | "error" | "break" | "early" | "silence";
};

/** Adds a part to the last turn, or begins one. */
export function addPart(turns: Turn[], role: Turn["role"], part: Part): void {
  const last = turns.at(-1);
  if (last?.role === role) last.parts.push(part);
  else turns.push({ role, parts: [part] });
}

/** How many calls there have been, to give the next one an id of its own. */
export function countCalls(turns: Turn[]): number {
  return turns.flatMap(({ parts }) => parts).filter((part) => "call" in part).length;
}

function withoutThoughts(answer: Answer): Answer {
  return { ...answer, thoughts: [], usage: { ...answer.usage, thinking: 0 } };
}

/** What `streamError` says in the tests. */
export const midStreamMessage = "The model stumbled over its own words.";

async function sendStream(response: ServerResponse, form: VendorForm, answer: Answer, asked: Asked) {
  response.writeHead(200, { "content-type": form.streamContentType });
  const events = form.streamStart(answer, asked);
  if (answer.ending === "complete") events.push(...form.streamEnd(answer, asked));
  if (answer.ending === "error") events.push(form.streamError(midStreamMessage));
  for (const piece of cutUp(Buffer.concat(events))) {
    if (!response.write(piece)) await once(response, "drain");
    // Only what is written in a turn of its own is a packet of its own.
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
