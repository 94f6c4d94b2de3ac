import type { ReasoningDetail } from "../../wire/chat-completion.ts";
import type { AnswerEnvelope } from "../dialect.ts";
import type { FormattedResponse } from "./format-response.ts";
import { sealReasoning } from "./sealed-reasoning.ts";

/**
 * Reasoning that upstreams need again and the client did not request. It is kept with the response, as OpenAI keeps it:
 * otherwise a follow-up would lose signatures.
 */
export class HiddenReasoning {
  /** By the position of the item. */
  readonly #sealed = new Map<number, string>();

  add(index: number, details: readonly ReasoningDetail[]): void {
    if (details.length > 0) this.#sealed.set(index, sealReasoning(details));
  }

  /** Keeps a finished response, if it should be. Returns it as the client receives it. */
  keep(response: FormattedResponse, { keep }: Pick<AnswerEnvelope, "keep">): object {
    if (keep === null) return response;
    const output = response.output.map((item, index) => {
      const sealed = this.#sealed.get(index);
      return sealed === undefined ? item : { ...item, encrypted_content: sealed };
    });
    return keep({ response, output }) ? response : { ...response, store: false };
  }
}
