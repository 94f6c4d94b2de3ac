/** A client library, as far as the scenario uses it. */
export type ScenarioClient = {
  name: string;
  dialect: "chat" | "messages" | "responses";
  /** Whether it returns what it does not know of a message, such as `reasoning_details`, with the next request. */
  returnsDetails: boolean;
  /** Its API has no stop sequences. */
  hasNoStop?: true;
  /** Asks, and gives the model the results of the tools it calls until it has an answer. Throws a `ScenarioFailure`. */
  converse(request: ScenarioRequest, options: ConverseOptions): Promise<Outcome>;
};

export type ConverseOptions = {
  baseUrl: string;
  apiKey: string;
  model: string;
  /** Who is asked the next question, if not the same. */
  nextModel?: string;
  stream: boolean;
  /** Whether thoughts are asked for by how many tokens they may take, where the client's API has both ways. */
  thinksByBudget: boolean;
  signal?: AbortSignal;
  /** Told each piece of text of a stream, when it comes. */
  onText?: (piece: string) => void;
};

export type ScenarioRequest = {
  system?: string;
  messages: ScenarioMessage[];
  tools?: Record<string, ScenarioTool>;
  mustCall?: string;
  /** The JSON schema of the answer. */
  schema?: Record<string, unknown>;
  effort?: "low" | "medium" | "high";
  temperature?: number;
  outputTokensMax?: number;
  stop?: string[];
  /** What the user says when the model has answered. */
  nextQuestion?: string;
};

export type ScenarioMessage = UserMessage | AssistantMessage;

/** `image` is a data URL. */
export type UserMessage = { role: "user"; text: string; image?: string };

/** Tools may have been called in a conversation that was held before; this is also what they gave. */
export type AssistantMessage = {
  role: "assistant";
  text: string;
  calls?: { id: string; name: string; input: object; result: string }[];
};

export type ScenarioTool = {
  description: string;
  parameters: Record<string, unknown>;
  /** What it gives, by the arguments it is called with, as JSON. */
  results: Record<string, string>;
};

/** What came of it, from all answers of the model together. */
export type Outcome = {
  /** In the pieces in which it came; in one if it did not stream. */
  text: string[];
  reasoning: string;
  calls: { name: string; input: unknown }[];
  /** Of the last answer, as its usage. */
  finish: string;
  usage: { input: number; cached: number; output: number; thinking: number; total: number };
};

/** How a client said that it did not work out, after the pieces of text that had come. */
export class ScenarioFailure extends Error {
  /** The status of the answer; null for a stream that had begun as a success. */
  readonly status: number | null;
  readonly text: string[];

  constructor(status: number | null, message: string, text: string[]) {
    super(message);
    this.status = status;
    this.text = text;
  }
}

/** The result of a tool; a test in which it is called otherwise than it should be fails by it. */
export function runTool(tools: ScenarioRequest["tools"], name: string, input: unknown): string {
  const result = tools?.[name]?.results[JSON.stringify(input)];
  if (result === undefined) throw new Error(`There is no result of ${name}(${JSON.stringify(input)}).`);
  return result;
}
