import { plainAnswer, plainUsage, type Step, user } from "./step.ts";
import { asCall, bern, weather, zurich } from "./tool-steps.ts";

export const thinkingSteps: Step[] = [
  {
    title: "thoughts before a response",
    request: { messages: [user("What is 17 × 23?")], effort: "medium" },
    answers: [{ thoughts: ["17 × 20 = 340 … ", "17 × 3 = 51 🧮"], text: ["It is ", "391."] }],
    outcome: {
      reasoning: "17 × 20 = 340 … 17 × 3 = 51 🧮",
      text: ["It is ", "391."],
      usage: { ...plainUsage, thinking: 12 },
    },
    asked: { isThinking: true },
  },
  {
    title: "thoughts before a tool, returned to the model with the result",
    request: { messages: [user("Do I need a coat in Zürich?")], tools: { weather }, effort: "low" },
    answers: [
      { thoughts: ["A coat? ", "That depends on the weather."], calls: [zurich], finish: "tool_calls" },
      { text: ["No, ", "it is 18 °C."], usage: { ...plainAnswer.usage, thinking: 0 } },
    ],
    outcome: {
      reasoning: "A coat? That depends on the weather.",
      text: ["No, ", "it is 18 °C."],
      calls: [zurich],
    },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "Do I need a coat in Zürich?" }] },
        {
          role: "assistant",
          parts: [{ thought: "A coat? That depends on the weather." }, asCall(zurich)],
        },
        { role: "user", parts: [{ result: "18 °C, sunny ☀️", ofCall: 0 }] },
      ],
    },
  },
  {
    title: "thoughts before two tools at once, and another question",
    request: {
      messages: [user("Zürich or Bern?")],
      tools: { weather },
      effort: "high",
      nextQuestion: "Are you sure?",
    },
    answers: [
      { thoughts: ["Compare ", "them."], calls: [zurich, bern], finish: "tool_calls" },
      { text: ["Zürich", "."], usage: { ...plainAnswer.usage, thinking: 0 } },
      { text: ["Quite", "."], usage: { ...plainAnswer.usage, thinking: 0 } },
    ],
    outcome: { reasoning: "Compare them.", text: ["Zürich", ".", "Quite", "."], calls: [zurich, bern] },
  },
  {
    title: "thoughts before each of two tools and before the response",
    request: { messages: [user("Which is warmer?")], tools: { weather }, effort: "medium" },
    answers: [
      { thoughts: ["Zürich ", "first. "], calls: [zurich], finish: "tool_calls" },
      { thoughts: ["Now ", "Bern. "], calls: [bern], finish: "tool_calls" },
      { thoughts: ["18 > 17 ", "✅"], text: ["Zürich", "."] },
    ],
    outcome: {
      reasoning: "Zürich first. Now Bern. 18 > 17 ✅",
      text: ["Zürich", "."],
      calls: [zurich, bern],
      usage: { ...plainUsage, thinking: 12 },
    },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "Which is warmer?" }] },
        { role: "assistant", parts: [{ thought: "Zürich first. " }, asCall(zurich)] },
        { role: "user", parts: [{ result: "18 °C, sunny ☀️", ofCall: 0 }] },
        { role: "assistant", parts: [{ thought: "Now Bern. " }, asCall(bern)] },
        { role: "user", parts: [{ result: '{"celsius":17,"rain":true}', ofCall: 1 }] },
      ],
    },
  },
];
