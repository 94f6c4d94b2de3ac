import type { Answer, Asked } from "../helpers/native-upstreams/native-upstream.ts";
import type { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import type { Outcome, ScenarioMessage, ScenarioRequest } from "./scenario-client.ts";

/** One thing that people do with a model. */
export type Step = {
  title: string;
  request: ScenarioRequest;
  /** The model's answers, one for each request; what is not said is as in `plainAnswer`. */
  answers: (Partial<Answer> | VendorRefusal)[];
  /** The text is said in pieces, and comes in one where nothing streams. */
  outcome: Partial<Outcome> | Failure;
  /** What the last request asked, as far as it matters here. */
  asked?: Partial<Asked>;
  /** Whether the step is for streams only; else it is played both ways. */
  onlyStreamed?: true;
};

/** `status` is null for an error after the stream had begun; not said where some vendors begin before they know. */
export type Failure = { failure: { status?: number | null; message: string; text?: string[] } };

export const plainAnswer: Answer = {
  thoughts: [],
  text: [],
  calls: [],
  finish: "stop",
  usage: { input: 120, cached: 40, cacheWritten: 16, output: 30, thinking: 12 },
  ending: "complete",
};

/** The same for every kind: the prompt with what was cached, the answer with the thoughts. */
export const plainUsage: Outcome["usage"] = { input: 120, cached: 40, output: 30, thinking: 0, total: 150 };

export function user(text: string, image?: string): ScenarioMessage {
  return { role: "user", text, ...(image !== undefined && { image }) };
}
