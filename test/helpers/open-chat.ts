import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { eventually } from "./eventually.ts";
import { chatBody } from "./post-chat.ts";

/** Returns before the response arrives, so that a test can read the response in parts or disconnect. */
export function openChat(gateway: { url: string }, keyValue: string, body: object): OpenChat {
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString("utf8");
  const request = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    agent: false,
    headers: { authorization: `Bearer ${keyValue}`, "content-type": "application/json" },
  });
  const head = new Promise<IncomingMessage>((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
  });
  const ended = head.then(
    (response) =>
      new Promise<boolean>((resolve) => {
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => resolve(false));
        response.on("close", () => resolve(response.complete));
      }),
    () => false,
  );
  request.end(JSON.stringify(body));
  return {
    request,
    head,
    text,
    ended,
    async received(part) {
      await eventually(() => text().includes(part));
    },
  };
}

export type OpenChat = {
  request: ClientRequest;
  head: Promise<IncomingMessage>;
  text(): string;
  /** Resolves when the body contains the text. */
  received(text: string): Promise<void>;
  /** Resolves with false for a broken connection. */
  ended: Promise<boolean>;
};

export async function openStream(
  gateway: { url: string },
  keyValue: string,
  prompt: string,
  model = "demo/echo",
): Promise<OpenChat> {
  const stream = openChat(gateway, keyValue, chatBody(model, prompt, { stream: true }));
  await stream.received("data: ");
  return stream;
}
