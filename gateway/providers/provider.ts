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

/** One kind of upstream, as pure functions. Callers do the I/O. */
export type Provider = {
  /** The console shows this label for a provider without a preset. */
  label: string;
  /** A preset overrides `baseUrl` and `apiKey`. */
  fields: ProviderFields;
  /** The provider name in OpenTelemetry's conventions. A preset's `telemetryName` takes precedence. */
  telemetryName?: string;
  /** The AI SDK stores provider data, such as signatures, under this name. */
  aiSdkName?: string;
  /** Whether the provider only imitates models. The setup prefers others, and it does not complete the onboarding. */
  isDemo?: true;
  defaultBaseUrl: string | null;
  /** The usual end of the base URL, such as `/v1`, which people forget. Undefined if the kind has none. */
  versionPath?: string;
  presets: readonly Preset[];
  /** Throws `invalid_value` for invalid settings. */
  connect(settings: ProviderSettings): UpstreamApi;
};

/** Examples, hints and labels replace the defaults of the provider form. */
export type ProviderFields = {
  baseUrl: "required" | "optional" | "none";
  baseUrlExample?: string;
  baseUrlHint?: string;
  apiKey: "required" | "optional" | "none";
  apiKeyLabel?: string;
  apiKeyHint?: string;
  /** `aws` shows fields for the region, and for one key or a key pair. */
  form?: "aws";
};

/** Facts about a known upstream, such as the defaults of the provider form. */
export type Preset = {
  /** The provider form suggests this name. */
  name: string;
  label: string;
  /** Null if each customer has a different URL. */
  baseUrl: string | null;
  /** The upstream's page for API keys. Null if the upstream needs no key. */
  keyPageUrl: string | null;
  hint?: string;
  /** The environment variable from which the upstream's own tools read the key. Null if the upstream needs no key. */
  keyVariable: string | null;
  /** Reads further settings from environment variables of the upstream's own tools. */
  readEnvironment?(environment: Environment): EnvironmentSettings;
  telemetryName?: string;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** The preset's `keyVariable` takes precedence over `key`. */
type EnvironmentSettings = {
  baseUrl: string | null;
  key?: readonly [variable: string, value: string] | null;
};

export type ProviderSettings = { baseUrl: string; secret: string | null; preset: string | null };

export type UpstreamApi = {
  /** The endpoint that lists the models, for a GET request. */
  modelsEndpoint: Endpoint;
  /** The model names in a `modelsEndpoint` response. Null for a malformed list. */
  readModelNames(list: unknown): string[] | null;
  apis(model: UpstreamModel): ModelApis;
  /** The actual status, because some upstreams use one for several causes. `body` is the response's JSON, or null. */
  effectiveStatus?(status: number, body: unknown): number;
};

/** An upstream's APIs, each under the name of its endpoint here: the path after `/v1/`. */
export type ModelApis = {
  "chat/completions": ChatApi;
  embeddings?: EmbeddingsApi;
  messages?: NativeApi;
  "messages/count_tokens"?: NativeApi;
  responses?: NativeApi;
  "responses/compact"?: NativeApi;
  "responses/input_tokens"?: NativeApi;
};

export type EndpointName = keyof ModelApis;

/** The client's API: the upstream receives the client's bytes, with its own name for the model. */
export type NativeApi = { endpoint: Endpoint };

export type UpstreamModel = {
  /** The upstream's own name for the model. */
  name: string;
  outputTokensMax: number | null;
  canReason?: boolean | undefined;
};

export type ChatApi = NativeApi &
  ChatTranslation & {
    streamEndpoint: Endpoint;
    /** Null for an upstream without native chat completions. */
    quirks: ChatQuirks | null;
  };

export type ChatTranslation = {
  /**
   * Throws a `GatewayError` for an invalid parameter, and for one that changes the response without an equivalent.
   * @param dropped receives the parameters that the model does not accept and that the request therefore omits
   */
  buildRequest(body: ChatRequestBody, model: UpstreamModel, dropped?: Set<string>): object;
  /** May throw any error for a malformed response. */
  readAnswer(answer: unknown): ChatAnswer;
  streamContentType: string;
  createDecoder(eventBytesMax: number): EventDecoder;
  createStreamReader(): ChatStreamReader;
};

/** The gateway adds the ID, the time and the model slug. */
export type ChatAnswer = {
  choices: CompletionChoice[];
  /** Lacks the counts that the upstream did not report. */
  usage: Partial<ChatUsage> | null;
  /** Details for the cost. The gateway sends only `usage` to clients. */
  usageDetails?: UsageDetails | undefined;
};

export type ChatStreamReader = {
  /**
   * Returns the event's choices for the client, often none. The gateway adds the role to the first delta.
   * Throws `upstreamReported(…)` for a reported error, and may throw any error for a malformed event.
   */
  read(event: UpstreamEvent): ChunkChoice[];
  /** The counts so far. The getter must be cheap, because the gateway calls it for every delta. */
  readonly usage: Partial<ChatUsage> | null;
  readonly usageDetails: UsageDetails | undefined;
  /**
   * `unfinished`: a closed connection would be an error. `finished`: every choice has its finish reason, but
   * usage may follow. `ended`: the gateway ignores further events.
   */
  readonly state: "unfinished" | "finished" | "ended";
};

/** Native without a translation. */
type EmbeddingsApi = NativeApi & { translation?: EmbeddingsTranslation };

export type EmbeddingsTranslation = {
  /** Throws a `GatewayError` for an unsupported or invalid parameter. */
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
  /** The gateway removes this credential from errors, because an upstream may quote it. */
  secret: string | null;
  /** Returns additional headers as alternating names and values. */
  sign?(request: UpstreamRequest): Promise<string[]>;
  /** Answers without a connection, for an upstream inside this process. */
  answer?(request: UpstreamRequest): ScriptedAnswer;
};

export type UpstreamRequest = { method: "GET" | "POST"; body: Buffer | null; date: Date };

export type ScriptedAnswer = {
  status: number;
  headers: Record<string, string>;
  parts: Iterable<{ delayMs: number; text: string }>;
  /** `broken` closes the connection before the end. `silent` keeps it open without further data. */
  ending: "complete" | "broken" | "silent";
};
