import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import type { AnswerEnvelope } from "../dialect.ts";
import type { FormattedResponse } from "./format-response.ts";
import { sealReasoning } from "./sealed-reasoning.ts";

/**
 * Reasoning that the client did not request, but that a follow-up needs for its signatures. It is kept with
 * the response, as OpenAI does.
 */
export class HiddenReasoning {
  /** The sealed reasoning, by the position of its item. */
  readonly #sealed = new Map<number, string>();

  add(index: number, details: readonly ReasoningDetail[]): void {
    if (details.length > 0) this.#sealed.set(index, sealReasoning(details));
  }

  /** Keeps a finished response, if requested. Returns it in the client's form. */
  keep(response: FormattedResponse, { keep }: Pick<AnswerEnvelope, "keep">): object {
    if (keep === null) return response;
    const output = response.output.map((item, index) => {
      const sealed = this.#sealed.get(index);
      return sealed === undefined ? item : { ...item, encrypted_content: sealed };
    });
    return keep({ response, output }) ? response : { ...response, store: false };
  }
}
