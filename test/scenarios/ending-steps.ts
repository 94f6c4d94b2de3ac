import { midStreamMessage } from "../helpers/native-upstreams/native-upstream.ts";
import { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import { type Step, user } from "./step.ts";
import { weather, zurich } from "./tool-steps.ts";

const tooLong = "The prompt is longer than the context window of this model.";
const tooMany = "You have asked too often in this minute.";

/** Incomplete and failed responses, which must not look successful. */
export const endingSteps: Step[] = [
  {
    title: "a response truncated at the token limit",
    request: { messages: [user("Tell me a long story.")], outputTokensMax: 16 },
    answers: [{ text: ["Once upon ", "a ti"], finish: "length" }],
    outcome: { text: ["Once upon ", "a ti"], finish: "length" },
  },
  {
    title: "a withheld response",
    request: { messages: [user("Something forbidden.")] },
    answers: [{ finish: "content_filter" }],
    outcome: { finish: "content_filter" },
  },
  {
    title: "a response stopped by a content filter",
    request: { messages: [user("Something nearly forbidden.")] },
    answers: [{ text: ["First you ", "take"], finish: "content_filter" }],
    outcome: { text: ["First you ", "take"], finish: "content_filter" },
    onlyStreamed: true,
  },
  {
    title: "a request that the vendor rejects",
    request: { messages: [user("All of Wikipedia.")] },
    answers: [new VendorRefusal("invalid", tooLong)],
    outcome: { failure: { status: 400, message: tooLong } },
  },
  {
    title: "too many requests",
    request: { messages: [user("Again!")] },
    answers: [new VendorRefusal("rate limited", tooMany)],
    outcome: { failure: { status: 429, message: tooMany } },
  },
  {
    title: "a model unknown to the vendor",
    request: { messages: [user("Is anybody there?")] },
    answers: [new VendorRefusal("not found", "The model does not exist.")],
    outcome: { failure: { status: 404, message: "The model does not exist." } },
  },
  {
    title: "an overloaded vendor",
    request: { messages: [user("Me too!")] },
    answers: [new VendorRefusal("overloaded", "Everybody is here.")],
    outcome: { failure: { status: 502, message: "The provider returned HTTP status" } },
  },
  {
    title: "a credential unknown to the vendor",
    request: { messages: [user("Who goes there?")] },
    answers: [new VendorRefusal("unauthenticated", "We do not know you.")],
    outcome: {
      failure: { status: 502, message: "The provider rejected the gateway's credential." },
    },
  },
  {
    title: "an error mid-stream",
    request: { messages: [user("A poem, please.")] },
    answers: [{ text: ["Roses are ", "red, "], ending: "error" }],
    outcome: { failure: { status: null, message: midStreamMessage, text: ["Roses are ", "red, "] } },
    onlyStreamed: true,
  },
  {
    title: "a connection that breaks mid-stream",
    request: { messages: [user("A ballad, please.")] },
    answers: [{ text: ["There was ", "a king"], ending: "break" }],
    outcome: {
      failure: {
        status: null,
        message: "The request to the provider failed",
        text: ["There was ", "a king"],
      },
    },
    onlyStreamed: true,
  },
  {
    title: "an error as the first event of a stream",
    request: { messages: [user("Say nothing.")] },
    answers: [{ ending: "error" }],
    outcome: { failure: { message: midStreamMessage } },
    onlyStreamed: true,
  },
  {
    title: "a stream that ends during a tool call",
    request: { messages: [user("In what city am I?")], tools: { weather } },
    answers: [{ calls: [zurich], finish: "tool_calls", ending: "early" }],
    outcome: { failure: { status: null, message: "provider" } },
    onlyStreamed: true,
  },
  {
    title: "a stream that ends too early",
    request: { messages: [user("A novel, please.")] },
    answers: [{ text: ["It was a dark ", "and"], ending: "early" }],
    outcome: { failure: { status: null, message: "provider", text: ["It was a dark ", "and"] } },
    onlyStreamed: true,
  },
];
