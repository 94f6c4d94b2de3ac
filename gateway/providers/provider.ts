import type {
  ChatRequestBody,
  ChatUsage,
  ChunkChoice,
  CompletionChoice,
  EmbeddingsRequestBody,
  ChatQuirks,
} from "../wire/chat-completion.ts";
import type { EventDecoder, UpstreamEvent } from "../wire/event-decoder.ts";

/** How one kind of upstream is spoken to: pure functions. What is called, and when, is decided elsewhere. */
export type Provider = {
  /** For people, unless a preset has a label of its own. */
  label: string;
  /** For a form. A preset can require other fields than its kind. */
  fields: ProviderFields;
  /** In OpenTelemetry's conventions, unless a preset has a name of its own. */
  telemetryName?: string;
  /** Under which name the AI SDK keeps what such models need back, as thought signatures. */
  aiSdkName?: string;
  /** Whether it only imitates models: everything else is preferred, and it is no step of the onboarding. */
  isDemo?: true;
  /** Where it is unless somebody says otherwise; null where nobody can know. */
  defaultBaseUrl: string | null;
  /** The well-known upstreams of this kind. */
  presets: readonly Preset[];
  /** Made once, when the provider is read or changes. Throws `invalid_value` for settings that cannot be right. */
  connect(settings: ProviderSettings): UpstreamApi;
};

/** The settings of a provider, with the words of a form where the usual ones would not do. */
export type ProviderFields = {
  baseUrl: "required" | "optional" | "none";
  baseUrlExample?: string;
  baseUrlHint?: string;
  apiKey: "required" | "optional" | "none";
  apiKeyLabel?: string;
  /** `aws` has a region in place of the base URL, and one key or a pair. */
  form?: "aws";
};

/** What is known about an upstream, for whoever adds it. */
export type Preset = {
  /** Also the name that a provider made from it is offered. */
  name: string;
  /** As its company writes it. */
  label: string;
  /** Null where it is different for everyone. */
  baseUrl: string | null;
  /** Where people get a key; null where none is needed. */
  keyPageUrl: string | null;
  /** What whoever adds it should know, where it is not obvious. */
  hint?: string;
  /** The environment variable in which its own tools look for the key; null where there is none. */
  keyVariable: string | null;
  /** What else its own tools read from the environment. */
  readEnvironment?(environment: Environment): EnvironmentSettings;
  /** In OpenTelemetry's conventions, if it is not the preset's name. */
  telemetryName?: string;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** The key is one under another name than the preset's `keyVariable`. */
export type EnvironmentSettings = {
  baseUrl: string | null;
  key?: readonly [variable: string, value: string] | null;
};

export type ProviderSettings = { baseUrl: string; secret: string | null; preset: string | null };

/** An upstream's operations, with our credential in them. */
export type UpstreamApi = {
  /** Where the upstream lists its models, for a GET request. */
  modelsEndpoint: Endpoint;
  /** The names in that list; null when it is not one. */
  readModelNames(list: unknown): string[] | null;
  chat(model: UpstreamModel): ChatApi;
  /** Null where the upstream has none. */
  embeddings(model: UpstreamModel): EmbeddingsApi | null;
  /** Where it speaks other dialects of clients than chat completions itself, by the endpoint's name. */
  dialects?: Partial<Record<DialectEndpointName, Endpoint>>;
  /**
   * The HTTP status that an answer which is no success should have had, for upstreams that use one for several things;
   * `body` is its JSON, or null.
   */
  meantStatus?(status: number, body: unknown): number;
};

/** As they come after `/v1/`. */
export type DialectEndpointName = "chat/completions" | "messages" | "messages/count_tokens" | "responses";

/** A model as its upstream knows it. */
export type UpstreamModel = {
  name: string;
  /** The most tokens that it can answer with; null where nobody said. */
  outputTokensMax: number | null;
  /** Whether it can think before it answers; undefined where nobody knows. */
  canReason?: boolean | undefined;
};

/** How chat completions are made by this upstream. */
export type ChatApi = ChatTranslation & {
  endpoint: Endpoint;
  streamEndpoint: Endpoint;
  /** Of an upstream that speaks chat completions: it gets the bytes of a client that does, too. Null for all others. */
  quirks: ChatQuirks | null;
};

export type ChatTranslation = {
  /** The upstream's request, still as a value. Throws `unsupported_parameter` for what would change the answer if dropped. */
  buildRequest(body: ChatRequestBody, model: UpstreamModel): object;
  /** May throw anything for what is no answer. */
  readAnswer(answer: unknown): ChatAnswer;
  /** The media type of the upstream's streams, without parameters. */
  streamContentType: string;
  /** @param eventBytesMax the longest event that is waited for. */
  createDecoder(eventBytesMax: number): EventDecoder;
  createStreamReader(): ChatStreamReader;
};

/** What an answer comes to. The gateway adds the id, the time and the slug. */
export type ChatAnswer = { choices: CompletionChoice[]; usage: ChatUsage | null };

/** Reads one stream, event by event. */
export type ChatStreamReader = {
  /**
   * What the event says to the client, in order; often nothing. The role of the first delta is added by the gateway.
   * Throws `upstreamReported(…)` for an event that reports an error, and may throw anything for one that is none.
   */
  read(event: UpstreamEvent): ChunkChoice[];
  /** The counts as far as they are known. Asked for with every delta, so it must be at hand. */
  readonly usage: ChatUsage | null;
  /**
   * `unfinished`: the end of the connection would be a break. `finished`: every choice has its finish reason, but counts may
   * still come. `ended`: the upstream has said that this was all.
   */
  readonly state: "unfinished" | "finished" | "ended";
};

/** Embeddings: the client's own bytes, or a translation. */
export type EmbeddingsApi =
  | { form: "native"; endpoint: Endpoint }
  | {
      form: "translated";
      endpoint: Endpoint;
      /** Throws `unsupported_parameter` or `invalid_value` for what the upstream cannot do. */
      buildRequest(body: EmbeddingsRequestBody, model: UpstreamModel): object;
      /** May throw anything for what is no answer. */
      readAnswer(answer: unknown): EmbeddingsAnswer;
    };

export type EmbeddingsAnswer = {
  /** One for each input, in their order. */
  embeddings: number[][];
  inputTokens: number | null;
};

export type Endpoint = {
  /** Scheme, host and port. */
  origin: string;
  /** With the query. */
  path: string;
  /** Names and values in turn. */
  headers: string[];
  /** Our credential in those headers, which an upstream may quote and nobody else may see. */
  secret: string | null;
  /** Further headers, names and values in turn, where they depend on the request: a signature. */
  sign?(request: UpstreamRequest): Promise<string[]>;
  /** An upstream inside this process: no connection is opened, and the answer is played as if it came over one. */
  answer?(request: UpstreamRequest): ScriptedAnswer;
};

export type UpstreamRequest = { method: "GET" | "POST"; body: Buffer | null; date: Date };

/** The answer of an upstream inside this process, piece by piece. */
export type ScriptedAnswer = {
  status: number;
  headers: Record<string, string>;
  parts: Iterable<{ delayMs: number; text: string }>;
  /** How it ends: as it should, by a connection that breaks, or not at all. */
  ending: "complete" | "broken" | "silent";
};
