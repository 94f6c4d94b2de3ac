import type {
  ChatRequestBody,
  ChatUsage,
  ChunkChoice,
  CompletionChoice,
  EmbeddingsRequestBody,
  ChatQuirks,
} from "../wire/chat-completion.ts";
import type { EventDecoder, UpstreamEvent } from "../wire/event-decoder.ts";

/** How to speak to one kind of upstream: pure functions. The caller decides which to call, and when. */
export type Provider = {
  /** Shown to people, unless a preset has its own label. */
  label: string;
  /** For the form. A preset can require other fields than its kind. */
  fields: ProviderFields;
  /** Its name in OpenTelemetry's conventions, unless a preset has one. */
  telemetryName?: string;
  /** The name under which the AI SDK keeps provider data, such as signatures. */
  aiSdkName?: string;
  /** Whether it only imitates models. Any other provider is preferred, and it does not complete the onboarding. */
  isDemo?: true;
  /** The default base URL. Null without a default. */
  defaultBaseUrl: string | null;
  /** The known upstreams of this kind. */
  presets: readonly Preset[];
  /** Called when the provider is loaded or changes. Throws `invalid_value` for invalid settings. */
  connect(settings: ProviderSettings): UpstreamApi;
};

/** The settings of a provider, with texts for the form where the defaults do not fit. */
export type ProviderFields = {
  baseUrl: "required" | "optional" | "none";
  baseUrlExample?: string;
  baseUrlHint?: string;
  apiKey: "required" | "optional" | "none";
  apiKeyLabel?: string;
  /** `aws` shows a region instead of the base URL, and one key or a pair. */
  form?: "aws";
};

/** Facts about a known upstream, for the form of a new provider. */
export type Preset = {
  /** Also the suggested provider name. */
  name: string;
  /** As its company spells it. */
  label: string;
  /** Null where every customer has another. */
  baseUrl: string | null;
  /** The page with the API keys. Null where no key is needed. */
  keyPageUrl: string | null;
  /** A hint for the form, where something is not obvious. */
  hint?: string;
  /** The environment variable that its own tools read the key from. Null for none. */
  keyVariable: string | null;
  /** Further settings that its own tools read from the environment. */
  readEnvironment?(environment: Environment): EnvironmentSettings;
  /** Its name in OpenTelemetry's conventions, if that differs from the preset's name. */
  telemetryName?: string;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Replaces the key of the preset's `keyVariable`. */
export type EnvironmentSettings = {
  baseUrl: string | null;
  key?: readonly [variable: string, value: string] | null;
};

export type ProviderSettings = { baseUrl: string; secret: string | null; preset: string | null };

/** An upstream's operations, with the provider's credential. */
export type UpstreamApi = {
  /** The endpoint that lists its models, for a GET request. */
  modelsEndpoint: Endpoint;
  /** The model names in a `modelsEndpoint` response. Null for a malformed list. */
  readModelNames(list: unknown): string[] | null;
  chat(model: UpstreamModel): ChatApi;
  /** Null where the upstream has no embeddings. */
  embeddings(model: UpstreamModel): EmbeddingsApi | null;
  /** Its endpoints for other client dialects than chat completions, by endpoint name. */
  dialects?: Partial<Record<DialectEndpointName, Endpoint>>;
  /**
   * The status that a failed answer means, for upstreams that use one status for several causes. `body` is its JSON, or
   * null.
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
  /** Whether it can reason. Undefined if unknown. */
  canReason?: boolean | undefined;
};

/** How this upstream makes chat completions. */
export type ChatApi = ChatTranslation & {
  endpoint: Endpoint;
  streamEndpoint: Endpoint;
  /** For an upstream that speaks chat completions and receives the client's bytes. Null for all others. */
  quirks: ChatQuirks | null;
};

export type ChatTranslation = {
  /**
   * The upstream's request as a value. Throws `unsupported_parameter` for a parameter that changes the answer and has
   * no equivalent.
   */
  buildRequest(body: ChatRequestBody, model: UpstreamModel): object;
  /** May throw anything for a malformed answer. */
  readAnswer(answer: unknown): ChatAnswer;
  /** The media type of the upstream's streams, without parameters. */
  streamContentType: string;
  /** @param eventBytesMax the maximum length of an event */
  createDecoder(eventBytesMax: number): EventDecoder;
  createStreamReader(): ChatStreamReader;
};

/** The converted answer. The gateway adds the ID, the time and the slug. */
export type ChatAnswer = { choices: CompletionChoice[]; usage: ChatUsage | null };

/** Reads one stream, event by event. */
export type ChatStreamReader = {
  /**
   * The event's choices for the client, often none. The gateway adds the role of the first delta. Throws
   * `upstreamReported(…)` for a reported error, and may throw anything for a malformed event.
   */
  read(event: UpstreamEvent): ChunkChoice[];
  /** The counts so far. Read for every delta, so it must be cheap. */
  readonly usage: ChatUsage | null;
  /**
   * `unfinished`: a closed connection would be an error. `finished`: every choice has its finish reason, but usage may
   * follow. `ended`: the upstream has ended the stream.
   */
  readonly state: "unfinished" | "finished" | "ended";
};

/** Embeddings: the client's bytes, or a translation. */
export type EmbeddingsApi =
  | { form: "native"; endpoint: Endpoint }
  | {
      form: "translated";
      endpoint: Endpoint;
      /** Throws `unsupported_parameter` or `invalid_value` for an impossible request. */
      buildRequest(body: EmbeddingsRequestBody, model: UpstreamModel): object;
      /** May throw anything for a malformed answer. */
      readAnswer(answer: unknown): EmbeddingsAnswer;
    };

export type EmbeddingsAnswer = {
  /** One for each input, in order. */
  embeddings: number[][];
  inputTokens: number | null;
};

export type Endpoint = {
  /** Scheme, host and port. */
  origin: string;
  /** Includes the query. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  /** The credential in those headers. An upstream may quote it, and no one else may see it. */
  secret: string | null;
  /** Further headers, names and values in turn, that depend on the request: a signature. */
  sign?(request: UpstreamRequest): Promise<string[]>;
  /** An upstream inside this process: no connection is opened, and the answer is played as if it arrived on one. */
  answer?(request: UpstreamRequest): ScriptedAnswer;
};

export type UpstreamRequest = { method: "GET" | "POST"; body: Buffer | null; date: Date };

/** The answer of an upstream inside this process, piece by piece. */
export type ScriptedAnswer = {
  status: number;
  headers: Record<string, string>;
  parts: Iterable<{ delayMs: number; text: string }>;
  /** How it ends: complete, with a broken connection, or never. */
  ending: "complete" | "broken" | "silent";
};
