import type { KnownKey } from "../keys/key-cache.ts";
import type { Runtime } from "../runtime.ts";
import type { ObservedRequest } from "../usage/observed-request.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import type { UsageRecorder } from "../usage/usage-recorder.ts";
import type { OpenExchanges } from "./open-exchanges.ts";
import type { Reply } from "./reply.ts";

/** What an exchange is made of. */
export type ExchangeOptions = {
  id: string;
  key: KnownKey;
  endpoint: string;
  /** The coding tool that asks; null for any other client. */
  clientTool: string | null;
  reply: Reply;
  runtime: Runtime;
  recorder: UsageRecorder;
  /** Null where nobody counts. */
  observer: RequestObserver | null;
  /** What the observer is told of; null where there is none. */
  observed: ObservedRequest | null;
  openExchanges: OpenExchanges;
  /** Released when the request ends. */
  heldBody: { release(): void };
};
