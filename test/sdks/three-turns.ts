import test, { type ExecutionContext } from "ava";
import { anthropicForm, claudeOpus } from "../helpers/native-upstreams/anthropic-upstream.ts";
import type { ClaudeModel } from "../helpers/native-upstreams/anthropic-thinking.ts";
import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { geminiForm } from "../helpers/native-upstreams/gemini-upstream.ts";
import type { VendorForm } from "../helpers/native-upstreams/native-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { withStore, withThreads } from "../helpers/native-upstreams/with-state.ts";
import { isFull } from "../helpers/scale.ts";
import { shareGateway, sharedByFile } from "../helpers/shared-by-file.ts";
import { type Connection, connectVendor } from "../scenarios/connect-vendor.ts";
import type { Vendor } from "../scenarios/vendors.ts";
import { answerAboutWeather, answers, questions, results, summary } from "./weather-model.ts";

/**
 * Tests each client with three turns on four upstreams. Two turns call a tool, and the third has structured
 * output.
 */
export function playThreeTurns(clients: SdkClient[]): void {
  const shared = sharedByFile();
  const gateway = shareGateway();
  const connections = new Map<string, Promise<Connection>>();
  for (const [row, client] of clients.entries()) {
    for (const [column, [name, vendor]] of Object.entries(upstreamsFor(client)).entries()) {
      const connectionKey = `${name} ${client.claude?.name}`;
      // Below full scale, each client is tested once per upstream, streamed or not.
      for (const stream of isFull ? [false, true] : [(row + column) % 2 === 0]) {
        const title = `${client.name} holds three turns on ${name}${stream ? ", streamed" : ""}`;
        test.serial(title, async (t) => {
          const known =
            connections.get(connectionKey) ?? connectVendor(shared, gateway(), vendor, answerAboutWeather);
          connections.set(connectionKey, known);
          const connection = await known;
          await playTurns(t, client, connection, stream);
          const usesState = connection.upstream.asked.some((asked) => asked.usesState === true);
          t.is(usesState, name === client.usesStateOf);
        });
      }
    }
  }
}

export type SdkClient = {
  name: string;
  dialect: "chat" | "messages" | "responses";
  /** The upstream whose stored state the client uses. */
  usesStateOf?: string;
  /** Claude's model, by default `claudeOpus`. */
  claude?: ClaudeModel;
  /** Starts a conversation that keeps its history as the SDK documents. */
  start(options: SdkOptions): SdkConversation;
};

export type SdkOptions = {
  baseUrl: string;
  apiKey: string;
  model: string;
  stream: boolean;
  getWeather(input: { city: string }): string;
};

export type SdkConversation = {
  /** Offers the weather tool, and returns the text after the last call. */
  ask(question: string): Promise<string>;
  askForSummary(question: string): Promise<unknown>;
};

/** Returns four upstreams: one speaks the client's dialect, and three need translation. */
function upstreamsFor({ dialect, claude: model = claudeOpus }: SdkClient): Record<string, Vendor> {
  const takesThoughts = "sealed";
  const native = { name: "openai", preset: "openai", form: withStore(responsesForm), takesThoughts } as const;
  const claude = anthropicForm(model);
  // Mastra fails on unknown event types such as `news`, which the test upstream sends but Anthropic does not.
  const isKnown = (event: Buffer) => !event.includes("event: news");
  const form: VendorForm = {
    ...claude,
    streamStart: (answer, asked) => claude.streamStart(answer, asked).filter(isKnown),
  };
  const bedrock = { name: "bedrock", form: bedrockForm, takesThoughts } as const;
  return {
    ...(dialect === "responses" ? { OpenAI: native } : { Bedrock: bedrock }),
    "a chat upstream": { name: "chat", form: openAiForm, takesThoughts: "as text of chat" },
    Claude: { name: "claude", form: withThreads(form), takesThoughts },
    Gemini: { name: "gemini", form: geminiForm({ name: "gemini-3-flash", generation: 3 }), takesThoughts },
  };
}

async function playTurns(
  t: ExecutionContext,
  client: SdkClient,
  { upstream, options }: Connection,
  stream: boolean,
): Promise<void> {
  upstream.asked.length = 0;
  upstream.refusals.length = 0;
  const { baseUrl, apiKey, model } = options;
  const cities: string[] = [];
  const getWeather = ({ city }: { city: string }) => {
    cities.push(city);
    return results[city] ?? "unknown";
  };
  const conversation = client.start({ baseUrl, apiKey, model, stream, getWeather });
  const outcome: unknown[] = [];
  const [paris, rome, both] = questions;
  try {
    outcome.push(await conversation.ask(paris), await conversation.ask(rome));
    outcome.push(await conversation.askForSummary(both));
  } catch (error) {
    outcome.push(String(error));
  }
  t.deepEqual(upstream.refusals, []);
  t.deepEqual(outcome, [...answers, summary]);
  t.deepEqual(cities, ["Paris", "Rome"]);
  t.is(upstream.asked[0]?.stream, stream);
}
