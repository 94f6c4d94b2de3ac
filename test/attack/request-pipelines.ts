import { setImmediate } from "node:timers/promises";
import { chat } from "../../gateway/dialects/chat/chat.ts";
import type { Dialect } from "../../gateway/dialects/dialect.ts";
import { readEmbeddingsRequest } from "../../gateway/dialects/embeddings/read-embeddings-request.ts";
import { countTokens } from "../../gateway/dialects/messages/count-tokens.ts";
import { messages } from "../../gateway/dialects/messages/messages.ts";
import { readCountRequest } from "../../gateway/dialects/messages/read-messages-request.ts";
import { responses } from "../../gateway/dialects/responses/responses.ts";
import { GatewayError } from "../../gateway/errors.ts";
import type { Endpoint, ModelApis } from "../../gateway/providers/provider.ts";
import { type ProviderKindName, providerKindNames, providerKinds } from "../../gateway/providers/registry.ts";
import { estimateInputTokens } from "../../gateway/usage/counting/estimate-input-tokens.ts";
import { spliceModel } from "../../gateway/wire/bytes.ts";
import { anySize } from "../helpers/body-limits.ts";

export type DialectName = "chat" | "messages" | "count_tokens" | "responses" | "embeddings";

/** The gateway's processing of a body for one kind of provider, without the network. */
export type RequestPipeline = {
  dialect: DialectName;
  kind: ProviderKindName;
  /** Returns false if the gateway rejects the request. */
  run(bytes: Buffer): Promise<boolean>;
};

export const requestPipelines: RequestPipeline[] = providerKindNames.flatMap((kind) =>
  (["chat", "messages", "count_tokens", "responses", "embeddings"] as const).map((dialect) => ({
    dialect,
    kind,
    async run(bytes: Buffer) {
      try {
        await steps[dialect](bytes, connect(kind));
        return true;
      } catch (error) {
        if (error instanceof GatewayError) return false;
        throw error;
      }
    },
  })),
);

type Target = { apis: ModelApis; model: typeof upstreamModel };

const steps: Record<DialectName, (bytes: Buffer, target: Target) => void | Promise<void>> = {
  chat: (bytes, target) => converse(chat, bytes, target),
  messages: (bytes, target) => converse(messages, bytes, target),
  async count_tokens(bytes, { apis }) {
    const request = readCountRequest(bytes, anySize);
    if (apis["messages/count_tokens"]) spliceModel(request, upstreamModel.name);
    await countTokens(request);
    await setImmediate();
  },
  responses: (bytes, target) => converse(responses, bytes, target),
  embeddings(bytes, { apis, model }) {
    const { body } = readEmbeddingsRequest(bytes, anySize);
    const translation = apis.embeddings?.translation;
    if (translation) toBytes(translation.buildRequest(body, model));
    estimateInputTokens(body);
  },
};

/** Mirrors `completions/conversation.ts`. Also formats a translated response, which may repeat part of the request. */
function converse(dialect: Dialect, bytes: Buffer, { apis, model }: Target): void {
  const request = dialect.readRequest(bytes, anySize);
  const chatApi = apis["chat/completions"];
  const { endpointName } = dialect;
  const isNative = endpointName === "chat/completions" ? chatApi.quirks : apis[endpointName] !== undefined;
  if (isNative)
    play(chatApi.endpoint, Buffer.concat(dialect.native.buildRequest(request, model, chatApi.quirks)));
  else {
    const body = { ...dialect.toChatRequest(request), stream: request.stream };
    play(chatApi.endpoint, toBytes(chatApi.buildRequest(body, model)));
    toBytes(dialect.formatAnswer(answer, envelope, request));
    dialect.createStreamWriter(envelope, request).finish(null);
  }
  estimateInputTokens(request.body);
}

function connect(kind: ProviderKindName): Target {
  const api = providerKinds[kind].connect({
    baseUrl: baseUrls[kind],
    secret: "secret-0123456789",
    preset: null,
  });
  const model = { ...upstreamModel, name: modelNames[kind] ?? upstreamModel.name };
  return { apis: api.apis(model), model };
}

/** Generates the response of a provider without an upstream, such as the demo. Does nothing for other providers. */
function play({ answer: endpointAnswer }: Endpoint, body: Buffer): void {
  const parts = endpointAnswer?.({ method: "POST", body, date: new Date(0) }).parts ?? [];
  for (const { text } of parts) Buffer.from(text);
}

function toBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

const upstreamModel = { name: "upstream-model", outputTokensMax: null, canReason: true };

const modelNames: Partial<Record<ProviderKindName, string>> = {
  anthropic: "claude-opus-4-5",
  gemini: "gemini-3-pro-preview",
  bedrock: "anthropic.claude-sonnet-4-5-20250929-v1:0",
};

const baseUrls: Record<ProviderKindName, string> = {
  "openai-compatible": "https://upstream.example/v1",
  anthropic: "https://upstream.example/v1",
  gemini: "https://upstream.example/v1beta",
  "azure-openai": "https://upstream.openai.azure.com",
  bedrock: "https://bedrock-runtime.us-east-1.amazonaws.com",
  demo: "",
};

export const envelope = {
  id: "req_1",
  createdSeconds: 1,
  nowSeconds: () => 1,
  slug: "test/model",
  estimateInputTokens: () => 1,
  previousResponseId: null,
  keep: null,
};

const answer = {
  choices: [
    {
      index: 0,
      message: { role: "assistant" as const, content: "Hi!", refusal: null },
      logprobs: null,
      finish_reason: "stop" as const,
    },
  ],
  usage: null,
};
