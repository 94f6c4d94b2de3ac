import type { TestGateway } from "./test-gateway.ts";

/** Sends a chat completion request; a body that is text goes as it stands. */
export async function postChat(
  gateway: Pick<TestGateway, "url">,
  keyValue: string,
  body: unknown,
): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keyValue}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export type Answer = { status: number; headers: Headers; text: string };

/** The smallest request there is. */
export function chatBody(model: string, content = "Hello", more: object = {}): object {
  return { model, messages: [{ role: "user", content }], ...more };
}
