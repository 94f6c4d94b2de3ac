import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { chatBody } from "../helpers/post-chat.ts";

type ClientsOptions = {
  url: string;
  requestsPerSecond: number;
  key(): string;
  healthyModel: string;
  faultyModel: string;
};

/** Sends a mix of requests at a fixed rate until `stop`. */
export class SoakClients {
  readonly #options: ClientsOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: clients });
  readonly #clients: Promise<unknown>;
  readonly #startedAt = performance.now();
  #isStopping = false;
  #started = 0;
  /** The IDs of all requests that must have a record. */
  readonly ids = new Set<string>();
  readonly counts = { requests: 0, cancelled: 0, faulty: 0, revoked: 0 };
  /** The number of failures that no fault explains, by status or error code. */
  readonly unexplained = new Map<string, number>();

  constructor(options: ClientsOptions) {
    this.#options = options;
    this.#clients = Promise.all(Array.from({ length: clients }, () => this.#run()));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#clients;
    this.#agent.destroy();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const count = this.#started++;
      const dueAt = this.#startedAt + (count * 1_000) / this.#options.requestsPerSecond;
      const pauseMs = dueAt - performance.now();
      if (pauseMs > 1) await wait(pauseMs);
      const kind = kinds[count % kinds.length] ?? "plain";
      const { id, result } = await this.#send(kind);
      this.counts.requests++;
      if (result === "401") this.counts.revoked++;
      else if (id !== undefined) this.ids.add(id);
      if (kind === "cancelled") this.counts.cancelled++;
      else if (kind === "faulty" || kind === "faultyStream") this.counts.faulty++;
      else if (result !== "200" && result !== "401") {
        this.unexplained.set(result, (this.unexplained.get(result) ?? 0) + 1);
      }
    }
  }

  #send(kind: Kind): Promise<{ id?: string; result: string }> {
    const { path, body } = this.#describe(kind);
    const headers = { authorization: `Bearer ${this.#options.key()}`, "content-type": "application/json" };
    return new Promise((resolve) => {
      const sent = request(this.#options.url + path, { method: "POST", agent: this.#agent, headers });
      sent.on("error", (error: NodeJS.ErrnoException) => resolve({ result: error.code ?? error.message }));
      sent.on("response", (response) => {
        const id = String(response.headers["x-request-id"]);
        const result = String(response.statusCode);
        const finish = () => resolve({ id, result });
        response.on("end", finish);
        // A broken or destroyed response emits no "end".
        response.on("close", finish);
        response.on("error", finish);
        response.on("data", () => kind === "cancelled" && response.destroy());
      });
      sent.end(JSON.stringify(body));
    });
  }

  #describe(kind: Kind): { path: string; body: object } {
    const { healthyModel, faultyModel } = this.#options;
    const chat = "/v1/chat/completions";
    if (kind === "messages") {
      return { path: "/v1/messages", body: { ...chatBody(healthyModel), max_tokens: 100, stream: true } };
    }
    if (kind === "responses") {
      return { path: "/v1/responses", body: { model: healthyModel, input: "Hello", store: false } };
    }
    const model = kind.startsWith("faulty") ? faultyModel : healthyModel;
    const stream = kind === "stream" || kind === "cancelled" || kind === "faultyStream";
    return { path: chat, body: chatBody(model, "Hello", { stream }) };
  }
}

const clients = 48;
type Kind = "plain" | "stream" | "cancelled" | "faulty" | "faultyStream" | "messages" | "responses";
const kinds: Kind[] = [
  "plain",
  "plain",
  "stream",
  "plain",
  "messages",
  "plain",
  "cancelled",
  "plain",
  "responses",
  "stream",
  "plain",
  "faulty",
  "plain",
  "stream",
  "plain",
  "messages",
  "plain",
  "cancelled",
  "plain",
  "faultyStream",
];
