export type ScenarioClient = {
  name: string;
  dialect: "chat" | "messages" | "responses";
  /**
   * Whether the client returns the model's sealed thoughts with the next request, for example in
   * `reasoning_details`.
   */
  returnsDetails: boolean;
  /** Whether the client returns Gemini's signatures in `extra_content` of calls. */
  returnsCallSignatures?: boolean;
  /** Whether the client's API lacks stop sequences. */
  hasNoStop?: true;
  /** Throws a `ScenarioFailure` for an error of the gateway. */
  converse(request: ScenarioRequest, options: ConverseOptions): Promise<Outcome>;
};

export type ConverseOptions = {
  baseUrl: string;
  apiKey: string;
  model: string;
  nextModel?: string;
  stream: boolean;
  /** Whether to request thoughts with a token budget instead of an effort. Only the messages client's API has budgets. */
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
  /** The results by the JSON of the call's input. */
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

export class ScenarioFailure extends Error {
  /** The HTTP status. Null for an error in a stream, or if the SDK's error has the wrong class or type. */
  readonly status: number | null;
  /** The pieces received before the failure. */
  readonly text: string[];

  constructor(status: number | null, message: string, text: string[]) {
    super(message);
    this.status = status;
    this.text = text;
  }
}

export function runTool(tools: ScenarioRequest["tools"], name: string, input: unknown): string {
  const result = tools?.[name]?.results[JSON.stringify(input)];
  if (result === undefined) throw new Error(`There is no result of ${name}(${JSON.stringify(input)}).`);
  return result;
}
