import type { Answer, Asked } from "../helpers/native-upstreams/native-upstream.ts";
import type { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import type { Outcome, ScenarioMessage, ScenarioRequest } from "./scenario-client.ts";

export type Step = {
  title: string;
  request: ScenarioRequest;
  /** The model's responses, one per request. Defaults come from `plainAnswer`. */
  answers: (Partial<Answer> | VendorRefusal)[];
  /** The outcome with streaming. Without streaming, each response's text is one piece. */
  outcome: Partial<Outcome> | Failure;
  /** The expected members of the last request that the model receives. */
  asked?: Partial<Asked>;
  onlyStreamed?: true;
};

/**
 * `status` is null for an error after the stream's start. A missing `status` matches every status, because
 * vendors differ.
 */
export type Failure = { failure: { status?: number | null; message: string; text?: string[] } };

export const plainAnswer: Answer = {
  thoughts: [],
  text: [],
  calls: [],
  finish: "stop",
  usage: { input: 120, cached: 40, cacheWritten: 16, output: 30, thinking: 12 },
  ending: "complete",
};

/** The usage that each client receives for `plainAnswer` when thinking is off. */
export const plainUsage: Outcome["usage"] = { input: 120, cached: 40, output: 30, thinking: 0, total: 150 };

export function user(text: string, image?: string): ScenarioMessage {
  return { role: "user", text, ...(image !== undefined && { image }) };
}
