import { EventSourceParserStream } from "eventsource-parser/stream";

export type ChatMessage = { role: "system" | "user" | "assistant"; content: string };

export type ChatRequest = {
  model: string;
  messages: ChatMessage[];
  temperature?: number;
  max_completion_tokens?: number;
};

type Usage = { prompt_tokens?: number; completion_tokens?: number };

export type AnswerFacts = {
  requestId: string | null;
  finishReason: string | null;
  inputTokens: number | null;
  outputTokens: number | null;
  timeToFirstTokenMs: number | null;
  durationMs: number;
};

/** An invalid key, a rejected request or a broken response, with the API's message if there is one. */
export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly requestId: string | null;

  constructor(message: string, requestId: string | null) {
    super(message);
    this.requestId = requestId;
  }
}

export function toBody(request: ChatRequest) {
  return { ...request, stream: true, stream_options: { include_usage: true } };
}

/** Sends a chat through the public API. Throws a `ChatError` for a rejected request or a broken response. */
export async function sendChat(
  keyValue: string,
  request: ChatRequest,
  { signal, ontext }: { signal: AbortSignal; ontext: (text: string) => void },
): Promise<AnswerFacts> {
  const startedAt = performance.now();
  const response = await fetch("/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${keyValue}`, "content-type": "application/json" },
    body: JSON.stringify(toBody(request)),
    signal,
  });
  const requestId = response.headers.get("x-request-id");
  if (!response.ok || !response.body) throw new ChatError(await readError(response), requestId);

  let finishReason: string | null = null;
  let usage: Usage = {};
  let firstTokenAt: number | null = null;
  let isComplete = false;
  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const { data } = read.value;
    if (data === "[DONE]") {
      isComplete = true;
      continue;
    }
    const chunk = JSON.parse(data);
    if (chunk.error) throw new ChatError(String(chunk.error.message), requestId);
    if (chunk.usage) usage = chunk.usage;
    const [choice] = chunk.choices ?? [];
    if (choice?.finish_reason) finishReason = choice.finish_reason;
    if (choice?.delta?.content) {
      firstTokenAt ??= performance.now();
      ontext(choice.delta.content);
    }
  }
  if (!isComplete) throw new ChatError("The response was cut off. Try again.", requestId);
  return {
    requestId,
    finishReason,
    inputTokens: usage.prompt_tokens ?? null,
    outputTokens: usage.completion_tokens ?? null,
    timeToFirstTokenMs: firstTokenAt === null ? null : firstTokenAt - startedAt,
    durationMs: performance.now() - startedAt,
  };
}

/** The slugs that a key can use. Throws a `ChatError` for an invalid key. */
export async function listModelsOf(keyValue: string): Promise<string[]> {
  // A masked key contains characters that headers cannot contain.
  if (!/^[\x21-\x7e]+$/.test(keyValue)) {
    throw new ChatError(
      "This key is incomplete. Paste the full value, or rotate the key to get a new one.",
      null,
    );
  }
  const headers = { authorization: `Bearer ${keyValue}` };
  const response = await fetch("/v1/models", { headers }).catch(() => {
    // Each browser has a different message for a network error.
    throw new Error("The gateway cannot be reached. Check that it is running and that you are online.");
  });
  if (!response.ok) throw new ChatError(await readError(response), response.headers.get("x-request-id"));
  const { data } = await response.json();
  return data.map((model: { id: string }) => model.id);
}

async function readError(response: Response): Promise<string> {
  const fallback = `The gateway returned HTTP status ${response.status}. Retry the request.`;
  return response.json().then(
    (body) => body.error?.message ?? fallback,
    () => fallback,
  );
}
