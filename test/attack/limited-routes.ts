import type { TestGateway } from "../helpers/test-gateway.ts";
import type { Frame, openSocket } from "../helpers/responses-socket.ts";

/** A key's requests of one route. */
export type LimitedRoute = {
  /** The method and the path in the router, or `WebSocket` and the kind of a turn. */
  name: string;
  /** Sends a request and returns its status. */
  send(target: LimitedTarget): Promise<number>;
};

export type LimitedTarget = Pick<TestGateway, "url"> & {
  key: string;
  model: string;
  /** The ID of a kept response. */
  id: string;
  socket: Awaited<ReturnType<typeof openSocket>>;
};

/** Every route of `/v1` with a key. The test compares the names with the router. */
export const limitedRoutes: LimitedRoute[] = [
  post("/v1/chat/completions", ({ model }) => ({ model, messages: [{ role: "user", content: "Hi" }] })),
  post("/v1/embeddings", ({ model }) => ({ model, input: "Hi" })),
  post("/v1/messages", ({ model }) => ({
    model,
    max_tokens: 10,
    messages: [{ role: "user", content: "Hi" }],
  })),
  post("/v1/messages/count_tokens", ({ model }) => ({ model, messages: [{ role: "user", content: "Hi" }] })),
  post("/v1/responses", followUpOf),
  post("/v1/responses/input_tokens", followUpOf),
  post("/v1/responses/compact", followUpOf),
  plain("get", "/v1/models", () => "/v1/models"),
  plain("get", "/v1/models/*slug", ({ model }) => `/v1/models/${model}`),
  plain("get", "/v1/responses/:id", ({ id }) => `/v1/responses/${id}`),
  plain("get", "/v1/responses/:id/input_items", ({ id }) => `/v1/responses/${id}/input_items?limit=1`),
  plain("delete", "/v1/responses/:id", ({ id }) => `/v1/responses/${id}`),
  turn("WebSocket turn", followUpOf),
  turn("WebSocket warm-up", (target) => ({ ...followUpOf(target), generate: false })),
];

/** Routes that check no key and no body. */
export const openRoutes = ["/api/hello"];

function followUpOf({ model, id }: LimitedTarget): object {
  return { model, previous_response_id: id, input: "Hi" };
}

function post(path: string, bodyOf: (target: LimitedTarget) => object): LimitedRoute {
  return {
    name: `post ${path}`,
    send: (target) => ask(target, path, { method: "POST", body: JSON.stringify(bodyOf(target)) }),
  };
}

function plain(method: string, path: string, urlOf: (target: LimitedTarget) => string): LimitedRoute {
  return {
    name: `${method} ${path}`,
    send: (target) => ask(target, urlOf(target), { method: method.toUpperCase() }),
  };
}

async function ask({ url, key }: LimitedTarget, path: string, init: RequestInit): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(url + path, { ...init, headers });
  await response.arrayBuffer();
  return response.status;
}

function turn(name: string, bodyOf: (target: LimitedTarget) => object): LimitedRoute {
  return {
    name,
    async send(target) {
      const frames = await target.socket.turn(bodyOf(target));
      return statusOf(frames.at(-1));
    },
  };
}

function statusOf(frame: Frame | undefined): number {
  return frame?.type === "error" ? (frame.status ?? 0) : 200;
}
