import type {
  ChatRequestBody,
  ChatUsage,
  ChunkChoice,
  CompletionChoice,
  EmbeddingsRequestBody,
  ChatQuirks,
} from "../wire/chat-completion.ts";
import type { EventDecoder, UpstreamEvent } from "../wire/server-sent-events.ts";
import type { UsageDetails } from "../wire/token-usage.ts";

/** One kind of upstream, as pure functions. The caller decides which to call, and when. */
export type Provider = {
  /** The console shows this label unless a preset has its own. */
  label: string;
  /** The fields of the form. A preset can require other fields than its kind. */
  fields: ProviderFields;
  /** The name in OpenTelemetry's conventions, unless a preset has one. */
  telemetryName?: string;
  /** The AI SDK keeps provider data, such as signatures, under this name. */
  aiSdkName?: string;
  /**
   * Whether the provider only imitates models. It stands after all others and does not complete the
   * onboarding.
   */
  isDemo?: true;
  /** Null without a default. */
  defaultBaseUrl: string | null;
  /** The known upstreams of this kind. */
  presets: readonly Preset[];
  /** Runs when a provider is loaded or changed. Throws `invalid_value` for invalid settings. */
  connect(settings: ProviderSettings): UpstreamApi;
};

/** The settings of a provider, with labels for the form if the defaults do not fit. */
export type ProviderFields = {
  baseUrl: "required" | "optional" | "none";
  baseUrlExample?: string;
  baseUrlHint?: string;
  apiKey: "required" | "optional" | "none";
  apiKeyLabel?: string;
  /** `aws`: a region instead of the base URL, and one key or a pair. */
  form?: "aws";
};

/** Facts about a known upstream, for the form of a new provider. */
export type Preset = {
  /** The preset's name, which is also the suggested provider name. */
  name: string;
  /** The label, in the company's own spelling. */
  label: string;
  /** Null if each customer has a different URL. */
  baseUrl: string | null;
  /** The page with the API keys. Null if the upstream needs no key. */
  keyPageUrl: string | null;
  /** A hint for settings that are not obvious. */
  hint?: string;
  /** The environment variable with the key, which the upstream's own tools read. */
  keyVariable: string | null;
  /** Reads other settings from the variables of the upstream's own tools. */
  readEnvironment?(environment: Environment): EnvironmentSettings;
  /** The name in OpenTelemetry's conventions, if it differs from the preset's name. */
  telemetryName?: string;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings from the environment. `key` replaces the one in the preset's `keyVariable`. */
export type EnvironmentSettings = {
  baseUrl: string | null;
  key?: readonly [variable: string, value: string] | null;
};

export type ProviderSettings = { baseUrl: string; secret: string | null; preset: string | null };

/** An upstream's operations, with the provider's credential. */
export type UpstreamApi = {
  /** The endpoint that lists the models, for a GET request. */
  modelsEndpoint: Endpoint;
  /** The model names in a `modelsEndpoint` response. Null for a malformed list. */
  readModelNames(list: unknown): string[] | null;
  chat(model: UpstreamModel): ChatApi;
  /** Null if the upstream has no embeddings. */
  embeddings(model: UpstreamModel): EmbeddingsApi | null;
  /** The endpoints for client dialects other than chat completions, by endpoint name. */
  dialects?: Partial<Record<DialectEndpointName, Endpoint>>;
  /**
   * The actual status of a failed response, for upstreams that use one status for several causes. `body` is
   * its JSON, or null.
   */
  effectiveStatus?(status: number, body: unknown): number;
};

/** The paths after `/v1/`. */
export type DialectEndpointName =
  | "chat/completions"
  | "messages"
  | "messages/count_tokens"
  | "responses"
  | "responses/compact"
  | "responses/input_tokens";

/** A model in the upstream's terms. */
export type UpstreamModel = {
  name: string;
  /** The model's maximum output tokens. Null if unknown. */
  outputTokensMax: number | null;
  /** Whether the model can reason. Undefined if unknown. */
  canReason?: boolean | undefined;
};

/** The upstream's chat completions. */
export type ChatApi = ChatTranslation & {
  endpoint: Endpoint;
  streamEndpoint: Endpoint;
  /** Null for an upstream without chat completions. Others receive the client's bytes. */
  quirks: ChatQuirks | null;
};

export type ChatTranslation = {
  /**
   * Builds the upstream's request. Throws `unsupported_parameter` for a parameter that changes the response
   * and has no equivalent.
   */
  buildRequest(body: ChatRequestBody, model: UpstreamModel): object;
  /** May throw any error for a malformed response. */
  readAnswer(answer: unknown): ChatAnswer;
  /** The media type of the upstream's streams, without parameters. */
  streamContentType: string;
  /** @param eventBytesMax the maximum length of an event */
  createDecoder(eventBytesMax: number): EventDecoder;
  createStreamReader(): ChatStreamReader;
};

/** The converted response. The gateway adds the ID, the time and the slug. */
export type ChatAnswer = {
  choices: CompletionChoice[];
  usage: ChatUsage | null;
  /** Details for the cost. Clients see only `usage`. */
  usageDetails?: UsageDetails | undefined;
};

/** Reads one stream, event by event. */
export type ChatStreamReader = {
  /**
   * Returns the event's choices for the client, often none. The gateway adds the role of the first delta.
   * Throws `upstreamReported(…)` for a reported error, and may throw any error for a malformed event.
   */
  read(event: UpstreamEvent): ChunkChoice[];
  /** The counts so far. They must be cheap, because every delta reads them. */
  readonly usage: ChatUsage | null;
  /** Details for the cost, read at the end of each piece of the stream. */
  readonly usageDetails?: UsageDetails | undefined;
  /**
   * `unfinished`: a closed connection would be an error. `finished`: every choice has its finish reason, but
   * usage may follow. `ended`: the stream has ended.
   */
  readonly state: "unfinished" | "finished" | "ended";
};

/** The client's bytes, or a translation. */
export type EmbeddingsApi =
  | { form: "native"; endpoint: Endpoint }
  | {
      form: "translated";
      endpoint: Endpoint;
      /** Throws `unsupported_parameter` or `invalid_value` for an impossible request. */
      buildRequest(body: EmbeddingsRequestBody, model: UpstreamModel): object;
      /** May throw any error for a malformed response. */
      readAnswer(answer: unknown): EmbeddingsAnswer;
    };

export type EmbeddingsAnswer = {
  /** One vector for each input, in order. */
  embeddings: number[][];
  inputTokens: number | null;
};

export type Endpoint = {
  origin: string;
  /** The path includes the query. */
  path: string;
  /** Alternating names and values. */
  headers: string[];
  /** The credential in the headers. An upstream may quote it, so it is removed from errors. */
  secret: string | null;
  /** Signs the request. Returns further headers as alternating names and values. */
  sign?(request: UpstreamRequest): Promise<string[]>;
  /** Answers without a connection, for an upstream inside this process. */
  answer?(request: UpstreamRequest): ScriptedAnswer;
};

export type UpstreamRequest = { method: "GET" | "POST"; body: Buffer | null; date: Date };

/** The pieces of a response from an upstream inside this process. */
export type ScriptedAnswer = {
  status: number;
  headers: Record<string, string>;
  parts: Iterable<{ delayMs: number; text: string }>;
  /** The end of the response: complete, with a broken connection, or never. */
  ending: "complete" | "broken" | "silent";
};
