import { answerParent, thisProcess } from "../bench/measured-process.ts";
import { beginStream, chunkEvent, createUpstream } from "../helpers/scripted-upstream.ts";

const chunkIntervalMs = 10;
let delaysMs: number[] = [];

const { url } = await createUpstream(thisProcess, (_request, response) => {
  beginStream(response);
  const timer = setInterval(() => response.write(chunkEvent(`at ${performance.now()};`)), chunkIntervalMs);
  response.on("close", () => clearInterval(timer));
});

const answers = {
  /** The upstream's chunks contain the time at which it sent them. */
  upstream: () => ({ url }),

  /** Reads a stream of that upstream through a gateway for as long as this process lives. */
  async read({ url, key, model }: { url: string; key: string; model: string }): Promise<void> {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hi" }] }),
    });
    if (!response.ok || !response.body) throw new Error(`The stream began with HTTP ${response.status}.`);
    void note(response.body);
  },

  /** Returns the delay of each chunk since the last call, in milliseconds from upstream to client. */
  takeDelays(): number[] {
    const taken = delaysMs;
    delaysMs = [];
    return taken;
  },
};

async function note(body: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const now = performance.now();
    // A chunk that arrives in two pieces is not counted.
    for (const [, sentAt] of decoder.decode(bytes).matchAll(/"at ([\d.]+);"/g))
      delaysMs.push(now - Number(sentAt));
  }
}

export type StreamClock = typeof answers;

answerParent(answers);
