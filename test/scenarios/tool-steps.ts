import type { Part } from "../helpers/native-upstreams/native-upstream.ts";
import type { Outcome, ScenarioMessage, ScenarioTool } from "./scenario-client.ts";
import { plainAnswer, type Step, user } from "./step.ts";

export const weather: ScenarioTool = {
  description: "The weather of a city.",
  parameters: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      city: { type: "string", description: "Its name." },
      unit: { type: "string", enum: ["°C", "°F"] },
    },
    required: ["city"],
    additionalProperties: false,
  },
  results: { '{"city":"Zürich"}': "18 °C, sunny ☀️", '{"city":"Bern"}': '{"celsius":17,"rain":true}' },
};

/** Gemini expects no schema for a tool without parameters. */
const clock: ScenarioTool = {
  description: "The time.",
  parameters: { type: "object", properties: {}, additionalProperties: false },
  results: { "{}": "12:30" },
};

const bell: ScenarioTool = {
  description: "Rings.",
  parameters: { type: "object", properties: { times: { type: "integer" } }, required: ["times"] },
  results: { '{"times":2}': "" },
};

export const zurich = { name: "weather", input: { city: "Zürich" } };
export const bern = { name: "weather", input: { city: "Bern" } };
const time = { name: "clock", input: {} };
const ring = { name: "bell", input: { times: 2 } };

/** A conversation whose call IDs have lengths and characters that some vendors reject. */
const foreignMessages: ScenarioMessage[] = [
  user("Weather and time?"),
  {
    role: "assistant",
    text: "One moment.",
    calls: [
      { ...zurich, id: "fc-68af/4dc1.e1|weather:0", result: "rain" },
      { ...time, id: `call_${"0123456789".repeat(9)}`, result: "23:59" },
    ],
  },
];

export function asCall({ name, input }: Outcome["calls"][number]): Part {
  return { call: name, input };
}

export const toolSteps: Step[] = [
  {
    title: "a tool and the response with its result",
    request: { messages: [user("How is the weather in Zürich?")], tools: { weather } },
    answers: [
      { text: ["Let me ", "look."], calls: [zurich], finish: "tool_calls" },
      { text: ["It is sunny ", "☀️."] },
    ],
    outcome: { text: ["Let me ", "look.", "It is sunny ", "☀️."], calls: [zurich] },
    asked: {
      tools: [{ name: "weather", description: weather.description, parameters: weather.parameters }],
      forcedTool: null,
      turns: [
        { role: "user", parts: [{ text: "How is the weather in Zürich?" }] },
        { role: "assistant", parts: [{ text: "Let me look." }, asCall(zurich)] },
        { role: "user", parts: [{ result: "18 °C, sunny ☀️", ofCall: 0 }] },
      ],
    },
  },
  {
    title: "three tools at once, two of them the same",
    request: {
      messages: [user("The weather in Zürich and in Bern, and the time?")],
      tools: { weather, clock },
    },
    answers: [
      { calls: [zurich, bern, time], finish: "tool_calls" },
      { text: ["Sun, rain, ", "half past twelve."] },
    ],
    outcome: { text: ["Sun, rain, ", "half past twelve."], calls: [zurich, bern, time] },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "The weather in Zürich and in Bern, and the time?" }] },
        { role: "assistant", parts: [asCall(zurich), asCall(bern), asCall(time)] },
        {
          role: "user",
          parts: [
            { result: "18 °C, sunny ☀️", ofCall: 0 },
            { result: '{"celsius":17,"rain":true}', ofCall: 1 },
            { result: "12:30", ofCall: 2 },
          ],
        },
      ],
    },
  },
  {
    title: "the same tool repeatedly",
    request: { messages: [user("Compare Zürich with Bern.")], tools: { weather } },
    answers: [
      { calls: [zurich], finish: "tool_calls" },
      { calls: [bern], finish: "tool_calls" },
      { text: ["Zürich is ", "warmer."] },
    ],
    outcome: { text: ["Zürich is ", "warmer."], calls: [zurich, bern] },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "Compare Zürich with Bern." }] },
        { role: "assistant", parts: [asCall(zurich)] },
        { role: "user", parts: [{ result: "18 °C, sunny ☀️", ofCall: 0 }] },
        { role: "assistant", parts: [asCall(bern)] },
        { role: "user", parts: [{ result: '{"celsius":17,"rain":true}', ofCall: 1 }] },
      ],
    },
  },
  {
    title: "a tool with an empty result",
    request: { messages: [user("Ring twice.")], tools: { bell } },
    answers: [{ calls: [ring], finish: "tool_calls" }, { text: ["Do", "ne."] }],
    outcome: { text: ["Do", "ne."], calls: [ring] },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "Ring twice." }] },
        { role: "assistant", parts: [asCall(ring)] },
        { role: "user", parts: [{ result: "", ofCall: 0 }] },
      ],
    },
  },
  {
    title: "a question after a response that needed a tool",
    request: { messages: [user("What time is it?")], tools: { clock }, nextQuestion: "Is that late?" },
    answers: [
      { calls: [time], finish: "tool_calls" },
      { text: ["12:", "30."] },
      { text: ["It is ", "noon."] },
    ],
    outcome: { text: ["12:", "30.", "It is ", "noon."], calls: [time] },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "What time is it?" }] },
        { role: "assistant", parts: [asCall(time)] },
        { role: "user", parts: [{ result: "12:30", ofCall: 0 }] },
        { role: "assistant", parts: [{ text: "12:30." }] },
        { role: "user", parts: [{ text: "Is that late?" }] },
      ],
    },
  },
  {
    title: "a conversation started with another vendor's model",
    request: { messages: foreignMessages, tools: { weather, clock }, effort: "medium" },
    answers: [{ text: ["Hard to ", "say."], usage: { ...plainAnswer.usage, thinking: 0 } }],
    outcome: { text: ["Hard to ", "say."] },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "Weather and time?" }] },
        { role: "assistant", parts: [{ text: "One moment." }, asCall(zurich), asCall(time)] },
        {
          role: "user",
          parts: [
            { result: "rain", ofCall: 0 },
            { result: "23:59", ofCall: 1 },
          ],
        },
      ],
    },
  },
  {
    title: "a forced tool",
    request: { messages: [user("Now!")], tools: { weather, clock }, mustCall: "clock" },
    answers: [{ calls: [time], finish: "tool_calls" }],
    outcome: { calls: [time], finish: "tool_calls" },
    asked: { forcedTool: "clock" },
  },
];
