import { type Step, user } from "./step.ts";

/** Characters of two, three and four bytes, an emoji of two code points, and a word in two pieces. */
const greeting = ["Grü", "ß dich, ", "wörld 👋🏽", " — 你好", "!"];

const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

const recipe = {
  type: "object",
  properties: {
    dish: { type: "string" },
    minutes: { type: "integer" },
    steps: { type: "array", items: { type: "string" } },
  },
  required: ["dish", "minutes", "steps"],
  additionalProperties: false,
};

export const conversationSteps: Step[] = [
  {
    title: "a text",
    request: { system: "You greet people.", messages: [user("Say hello, in any lánguage 🌍.")] },
    answers: [{ text: greeting }],
    outcome: { text: greeting },
    asked: {
      system: "You greet people.",
      turns: [{ role: "user", parts: [{ text: "Say hello, in any lánguage 🌍." }] }],
      tools: [],
      schema: null,
      isThinking: false,
    },
  },
  {
    title: "a longer conversation with two messages in a row",
    request: {
      messages: [
        user("I am Ada."),
        { role: "assistant", text: "Hello, Ada!" },
        user("One more thing."),
        user("Who am I?"),
      ],
    },
    answers: [{ text: ["You are ", "Ada."] }],
    outcome: { text: ["You are ", "Ada."] },
    asked: {
      system: "",
      turns: [
        { role: "user", parts: [{ text: "I am Ada." }] },
        { role: "assistant", parts: [{ text: "Hello, Ada!" }] },
        { role: "user", parts: [{ text: "One more thing." }, { text: "Who am I?" }] },
      ],
    },
  },
  {
    title: "a response and another question",
    request: { messages: [user("A number?")], nextQuestion: "Another one?" },
    answers: [{ text: ["Se", "ven."] }, { text: ["Ni", "ne."] }],
    outcome: { text: ["Se", "ven.", "Ni", "ne."] },
    asked: {
      turns: [
        { role: "user", parts: [{ text: "A number?" }] },
        { role: "assistant", parts: [{ text: "Seven." }] },
        { role: "user", parts: [{ text: "Another one?" }] },
      ],
    },
  },
  {
    title: "a long text",
    request: { messages: [user("Greet everybody.")] },
    answers: [{ text: Array.from({ length: 60 }, () => greeting).flat() }],
    outcome: { text: Array.from({ length: 60 }, () => greeting).flat() },
  },
  {
    title: "a temperature",
    request: { messages: [user("Keep cool.")], temperature: 0.5 },
    answers: [{ text: ["I am ", "cool."] }],
    outcome: { text: ["I am ", "cool."] },
    asked: { temperature: 0.5 },
  },
  {
    title: "a token limit and a stop sequence",
    request: { messages: [user("Count to a hundred.")], outputTokensMax: 20, stop: ["four"] },
    answers: [{ text: ["one, two", ", three, "] }],
    outcome: { text: ["one, two", ", three, "] },
    asked: { outputTokensMax: 20, stop: ["four"] },
  },
  {
    title: "an image",
    request: { messages: [user("What is this?", `data:image/png;base64,${png}`)] },
    answers: [{ text: ["A red ", "pixel."] }],
    outcome: { text: ["A red ", "pixel."] },
    asked: {
      turns: [{ role: "user", parts: [{ text: "What is this?" }, { image: png, mediaType: "image/png" }] }],
    },
  },
  {
    title: "a structured response",
    request: { messages: [user("A recipe, please.")], schema: recipe },
    answers: [{ text: ['{"dish":"Rösti","min', 'utes":30,"steps":["grate","fry"]}'] }],
    outcome: { text: ['{"dish":"Rösti","min', 'utes":30,"steps":["grate","fry"]}'] },
    asked: { schema: recipe, forcedTool: null },
  },
];
