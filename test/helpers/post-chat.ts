import type { TestGateway } from "./test-gateway.ts";

export function postChat(
  gateway: Pick<TestGateway, "url">,
  keyValue: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  return postTo(gateway, "/v1/chat/completions", { authorization: `Bearer ${keyValue}` }, body, signal);
}

export async function postTo(
  gateway: Pick<TestGateway, "url">,
  path: string,
  headers: Record<string, string>,
  body: unknown,
  signal: AbortSignal | null = null,
): Promise<Answer> {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: isRaw ? (body as NonNullable<RequestInit["body"]>) : JSON.stringify(body),
    signal,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export type Answer = { status: number; headers: Headers; text: string };

export function chatBody(model: string, content = "Hello", more: object = {}): object {
  return { model, messages: [{ role: "user", content }], ...more };
}
