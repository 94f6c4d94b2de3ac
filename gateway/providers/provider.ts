import type { ChatRequestBody } from "../wire/chat-completion.ts";

/** How one kind of upstream is spoken to: pure functions. What is called, and when, is decided elsewhere. */
export type Provider = NetworkProvider | LocalProvider;

/** An upstream that is reached over HTTP and speaks chat completions itself. */
export type NetworkProvider = {
  reach: "network";
  /** Where chat completions go and what every such request carries. Made once, when the provider is read or changes. */
  chatEndpoint(settings: ProviderSettings): Endpoint;
  /** Where the upstream lists its models, for a GET request. */
  modelsEndpoint(settings: ProviderSettings): Endpoint;
  /** The names in that list; null when it is not one. */
  readModelNames(list: unknown): string[] | null;
};

/** A provider that answers by itself, without any network. */
export type LocalProvider = {
  reach: "local";
  modelNames: string[];
  answerChat(body: ChatRequestBody, identity: AnswerIdentity): ScriptedAnswer;
};

export type AnswerIdentity = { id: string; createdSeconds: number };

export type ProviderSettings = { baseUrl: string; secret: string | null };

export type Endpoint = {
  /** Scheme, host and port. */
  origin: string;
  path: string;
  /** Names and values in turn. */
  headers: string[];
  /** Our credential in those headers, which an upstream may quote and nobody else may see. */
  secret: string | null;
};

/** An answer as an upstream would give it, piece by piece. */
export type ScriptedAnswer = {
  status: number;
  headers: Record<string, string>;
  parts: Iterable<{ delayMs: number; text: string }>;
  /** How it ends: as it should, by a connection that breaks, or not at all. */
  ending: "complete" | "broken" | "silent";
};
