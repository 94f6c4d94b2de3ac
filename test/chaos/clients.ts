import { setTimeout as wait } from "node:timers/promises";
import { chatBody } from "../helpers/post-chat.ts";
import type { RecordedRequest } from "../helpers/recorded-requests.ts";

export type Ledger = {
  complete: string[];
  errors: Map<number, number>;
  /** The number of requests that broke off before a complete response. */
  broken: number;
};

export type ClientsOptions = {
  url: string;
  key: string;
  model: string;
  count: number;
  /** By default, every second request is a stream. */
  onlyStreams?: boolean;
  /** The pause after each complete response. After a failure, a client waits 100 ms. */
  pauseMs?: number;
};

export function startClients(options: ClientsOptions): { ledger: Ledger; stop(): Promise<Ledger> } {
  const ledger: Ledger = { complete: [], errors: new Map(), broken: 0 };
  const stopping = new AbortController();
  const ask = async (client: number) => {
    for (let asked = client; !stopping.signal.aborted; asked++) {
      const stream = options.onlyStreams === true || asked % 2 === 0;
      const isAnswered = await askOnce(options, { stream, anew: client % 2 === 1 }, ledger);
      const pauseMs = isAnswered ? (options.pauseMs ?? 0) : 100;
      if (pauseMs > 0) await wait(pauseMs);
    }
  };
  const all = Promise.all(Array.from({ length: options.count }, (_, client) => ask(client)));
  return {
    ledger,
    async stop() {
      stopping.abort();
      await all;
      return ledger;
    },
  };
}

async function askOnce(
  { url, key, model }: ClientsOptions,
  /** `anew` opens a new connection per request, as clients without keep-alive do. */
  { stream, anew }: { stream: boolean; anew: boolean },
  ledger: Ledger,
): Promise<boolean> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        connection: anew ? "close" : "keep-alive",
      },
      body: JSON.stringify(chatBody(model, "Hello", { stream })),
    });
    const text = await response.text();
    const { status } = response;
    const isComplete = status === 200 && text.endsWith(stream ? "data: [DONE]\n\n" : "}");
    if (isComplete) ledger.complete.push(response.headers.get("x-request-id") ?? "");
    else if (status === 200) ledger.broken++;
    else ledger.errors.set(status, (ledger.errors.get(status) ?? 0) + 1);
    return isComplete;
  } catch {
    ledger.broken++;
    return false;
  }
}

export function failuresOf({ broken, errors }: Ledger): number {
  return [...errors.values()].reduce((sum, count) => sum + count, broken);
}

/**
 * `missing` counts complete responses without a successful record. `duplicated` counts repeated records and
 * responses.
 */
export function compare(
  { complete }: Ledger,
  records: RecordedRequest[],
): { missing: number; duplicated: number } {
  const recorded = new Set(records.map(({ id }) => id));
  const answered = new Set(records.flatMap(({ id, status }) => (status === "SUCCEEDED" ? id : [])));
  return {
    missing: complete.filter((id) => !answered.has(id)).length,
    duplicated: records.length - recorded.size + complete.length - new Set(complete).size,
  };
}
