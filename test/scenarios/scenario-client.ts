export type ScenarioClient = {
  name: string;
  dialect: "chat" | "messages" | "responses";
  /** Whether the client returns unknown message members, such as `reasoning_details`, with the next request. */
  returnsDetails: boolean;
  /** Whether the client returns Gemini's signatures in `extra_content` of calls. */
  returnsCallSignatures?: boolean;
  /** Whether the client's API lacks stop sequences. */
  hasNoStop?: true;
  /** Sends the request, runs the tools and sends their results. Throws a `ScenarioFailure` for the gateway's errors. */
  converse(request: ScenarioRequest, options: ConverseOptions): Promise<Outcome>;
};

export type ConverseOptions = {
  baseUrl: string;
  apiKey: string;
  model: string;
  nextModel?: string;
  stream: boolean;
  /** Whether to request thoughts with a token budget, if the client's API also supports effort. */
  thinksByBudget: boolean;
  signal?: AbortSignal;
  onText?: (piece: string) => void;
};

export type ScenarioRequest = {
  system?: string;
  messages: ScenarioMessage[];
  tools?: Record<string, ScenarioTool>;
  mustCall?: string;
  /** The JSON schema of the response. */
  schema?: Record<string, unknown>;
  effort?: "low" | "medium" | "high";
  temperature?: number;
  outputTokensMax?: number;
  stop?: string[];
  /** The user's message after the model's first response without calls. */
  nextQuestion?: string;
};

export type ScenarioMessage = UserMessage | AssistantMessage;

/** `image` is a data URL. */
export type UserMessage = { role: "user"; text: string; image?: string };

export type AssistantMessage = {
  role: "assistant";
  text: string;
  calls?: { id: string; name: string; input: object; result: string }[];
};

export type ScenarioTool = {
  description: string;
  parameters: Record<string, unknown>;
  /** Maps the arguments of a call, as JSON, to its result. */
  results: Record<string, string>;
};

export type Outcome = {
  /** The received text pieces. Without streaming, one piece per response with text. */
  text: string[];
  reasoning: string;
  calls: { name: string; input: unknown }[];
  finish: string;
  usage: { input: number; cached: number; output: number; thinking: number; total: number };
};

/** A client's failure, with the text received before the failure. */
export class ScenarioFailure extends Error {
  /** The status of the response. Null after a stream's start, or if the SDK's error has the wrong class. */
  readonly status: number | null;
  readonly text: string[];

  constructor(status: number | null, message: string, text: string[]) {
    super(message);
    this.status = status;
    this.text = text;
  }
}

/** Throws for an unexpected call. */
export function runTool(tools: ScenarioRequest["tools"], name: string, input: unknown): string {
  const result = tools?.[name]?.results[JSON.stringify(input)];
  if (result === undefined) throw new Error(`There is no result of ${name}(${JSON.stringify(input)}).`);
  return result;
}
