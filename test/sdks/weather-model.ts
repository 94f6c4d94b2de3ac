import type { Answer, Asked, Part } from "../helpers/native-upstreams/native-upstream.ts";
import { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";

export const questions = ["What is the weather in Paris?", "And in Rome?", "Sum both up as JSON."] as const;
export const results: Record<string, string> = { Paris: "18 °C and sunny", Rome: "24 °C and dry" };
export const answers = ["Paris has 18 °C and sun.", "Rome is warmer than Paris."] as const;
export const summary = { warmest: "Rome", degrees: 24 };
export const weatherSchema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city" as const],
  additionalProperties: false as const,
};
export const summarySchema = {
  type: "object" as const,
  properties: { warmest: { type: "string" as const }, degrees: { type: "number" as const } },
  required: ["warmest" as const, "degrees" as const],
  additionalProperties: false as const,
};

/**
 * Answers as a model that calls `get_weather` in the first two turns. Rejects a request that lacks an earlier
 * answer, call or result.
 */
export function answerAboutWeather(question: Asked): Answer {
  const { turns, tools } = question;
  const parts = turns.flatMap((turn) => turn.parts);
  const asked = questions.filter((question) => parts.some((part) => isText(part, question)));
  const [turn] = [asked.length - 1];
  const city = turn === 1 ? "Rome" : "Paris";
  const last = turns.at(-1)?.parts.at(-1);
  if (last !== undefined && isText(last, questions[2])) {
    demandHistory(parts, ["Paris", "Rome"]);
    return answerWithSummary(question);
  }
  if (last !== undefined && isText(last, questions[turn] ?? "")) {
    demandHistory(parts, ["Paris"].slice(0, turn));
    if (!tools.some(({ name }) => name === "get_weather")) {
      throw new VendorRefusal("invalid", "The tool is missing.");
    }
    const text = turn === 0 ? ["Let me ", "look."] : [];
    return { ...plain, text, calls: [{ name: "get_weather", input: { city } }], finish: "tool_calls" };
  }
  demandHistory(parts, ["Paris", "Rome"].slice(0, turn));
  if (!parts.some((part) => "result" in part && part.result.includes(results[city] ?? "?"))) {
    throw new VendorRefusal("invalid", `The result for ${city} is missing.`);
  }
  const answer = answers[turn === 1 ? 1 : 0];
  return { ...plain, text: [answer.slice(0, 5), answer.slice(5)] };
}

/** Some SDKs request structured output as a tool call, and others with a schema. */
export function answerWithSummary({ tools, schema }: Asked): Answer {
  const json = JSON.stringify(summary);
  const sums = tools.find(({ parameters }) => JSON.stringify(parameters).includes('"warmest"'));
  if (sums) return { ...plain, calls: [{ name: sums.name, input: summary }], finish: "tool_calls" };
  if (schema === null) throw new VendorRefusal("invalid", "The schema is missing.");
  return { ...plain, text: [json.slice(0, 7), json.slice(7)] };
}

const plain: Answer = {
  thoughts: [],
  text: [],
  calls: [],
  finish: "stop",
  usage: { input: 120, cached: 0, cacheWritten: 0, output: 30, thinking: 0 },
  ending: "complete",
};

function demandHistory(parts: Part[], cities: string[]): void {
  for (const [at, city] of cities.entries()) {
    const isWhole =
      parts.some((part) => "call" in part && JSON.stringify(part.input).includes(city)) &&
      parts.some((part) => "result" in part && part.result.includes(results[city] ?? "?")) &&
      parts.some((part) => isText(part, answers[at] ?? "?"));
    if (!isWhole) throw new VendorRefusal("invalid", `The turn about ${city} is missing.`);
  }
}

/** SDKs may append instructions to a question. */
function isText(part: Part, text: string): boolean {
  return "text" in part && part.text.includes(text);
}
