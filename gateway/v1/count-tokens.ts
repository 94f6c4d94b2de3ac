import { countRequestTokens, type TokenCounting } from "../completions/count-tokens.ts";
import { responses } from "../dialects/responses/responses.ts";
import { ClientGoneError, readBody } from "../http/read-body.ts";
import {
  plainEndpoint,
  type RequestHandler,
  bodyHolderOf,
  type ModelEndpointOptions,
  limitedKeyOf,
} from "./endpoint.ts";

/** These count as requests, but have no tokens, budget or usage record: Anthropic and OpenAI do not charge them. */
export function countTokensEndpoint(options: ModelEndpointOptions, counting: TokenCounting): RequestHandler {
  return plainEndpoint(options, counting.dialect, async ({ request, response, reply }) => {
    const key = await limitedKeyOf(options, request);
    const leaving = new AbortController();
    const held = options.bodyBudget.hold(bodyHolderOf(key));
    response.on("close", () => {
      held.release();
      leaving.abort();
    });
    try {
      const received = await readBody(request, options.limits.requestBodyBytesMax, held);
      const { keptResponses } = options;
      const findFollowUp =
        counting.dialect === responses && keptResponses ? keptResponses.finderFor(key.id, received) : null;
      const { headers } = request;
      const counted = await countRequestTokens(
        options,
        counting,
        key,
        { bytes: received, headers, heldBody: held, findFollowUp },
        leaving.signal,
      );
      if (!response.destroyed) reply.send(counted, []);
    } catch (error) {
      if (!(error instanceof ClientGoneError)) throw error;
    }
  });
}
