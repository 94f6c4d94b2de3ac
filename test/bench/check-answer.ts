import { deepStrictEqual as equal } from "node:assert";
import { answerText, streamedText } from "./canned-answers.ts";
import type { BenchmarkCase } from "./cases.ts";
import { messagesPath } from "./chat-request.ts";

/** Compares a response's content, not its exact bytes. Throws on a difference. */
export function checkAnswer(benchmarkCase: BenchmarkCase, answer: string): void {
  if (benchmarkCase.clientPath === messagesPath) checkMessageStream(benchmarkCase, answer);
  else if (benchmarkCase.stream) checkStream(benchmarkCase, answer);
  else checkCompletion(benchmarkCase, answer);
}

function checkCompletion({ name, slug }: BenchmarkCase, answer: string): void {
  const { model, choices, usage } = JSON.parse(answer) as Completion;
  equal(model, slug, `${name}: the model`);
  equal(choices.length, 1, `${name}: the number of choices`);
  equal(choices[0]?.message.content, answerText, `${name}: the text`);
  equal(choices[0]?.finish_reason, "stop", `${name}: the finish reason`);
  equal([usage.prompt_tokens, usage.completion_tokens], [219, 50], `${name}: the usage`);
}

function checkStream({ name, slug }: BenchmarkCase, answer: string): void {
  const events = answer.split("\n\n").slice(0, -1);
  equal(events.at(-1), "data: [DONE]", `${name}: the last event`);
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace("data: ", "")) as Chunk);
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const text = choices.map(({ delta }) => delta.content).filter(Boolean);
  equal(text, streamedText, `${name}: the text`);
  equal(choices.at(-1)?.finish_reason, "stop", `${name}: the finish reason`);
  for (const { model, usage } of chunks) {
    equal(model, slug, `${name}: the model`);
    // The client did not request the usage, so the gateway removes it.
    equal(usage ?? null, null, `${name}: the usage`);
  }
}

function checkMessageStream({ name, slug }: BenchmarkCase, answer: string): void {
  const events = [...answer.matchAll(/^data: (.*)$/gm)].map(
    ([, data = ""]) => JSON.parse(data) as MessageEvent,
  );
  equal(events.at(-1)?.type, "message_stop", `${name}: the last event`);
  equal(events[0]?.message?.model, slug, `${name}: the model`);
  equal(events.map(({ delta }) => delta?.text).filter(Boolean), streamedText, `${name}: the text`);
}

type MessageEvent = { type: string; message?: { model: unknown }; delta?: { text?: unknown } };

type Completion = {
  model: unknown;
  choices: { message: { content: unknown }; finish_reason: unknown }[];
  usage: { prompt_tokens: unknown; completion_tokens: unknown };
};

type Chunk = {
  model: unknown;
  choices: { delta: { content?: unknown }; finish_reason: unknown }[];
  usage?: unknown;
};
