import { type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { eventually } from "./eventually.ts";
import { chatBody } from "./post-chat.ts";

/** Like `postChat`, for tests that look at the answer while it comes, or leave. */
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

/** A chat completion request under way, on a connection of its own, with everything that came back so far. */
export type OpenChat = {
  request: ClientRequest;
  /** The head of the answer. */
  head: Promise<IncomingMessage>;
  text(): string;
  /** Waits until the body so far contains the text. */
  received(text: string): Promise<void>;
  /** Whether the answer came to the end that HTTP asks for; false when the connection broke. */
  ended: Promise<boolean>;
};

/** A stream whose first event has come. */
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
