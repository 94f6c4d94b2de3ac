import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { responses } from "../../../gateway/dialects/responses/responses.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { envelopeFor, readEvents, requestFrom, writeStream } from "./read-events.ts";
import { loadOpenAiSchemas } from "../../helpers/openai-schemas.ts";

/**
 * The fields of a fixture. Each pair is one translation and its result. The events are in a separate file.
 */
type Fixture = {
  request: { model: string };
  chatRequest?: unknown;
  chatAnswer?: ChatAnswer;
  answer?: unknown;
  chatChoices?: ChunkChoice[];
  chatUsage?: ChatUsage | null;
};

const folder = path.resolve(import.meta.dirname, "../../fixtures/dialects/responses");
const schema = loadOpenAiSchemas();
const testWithSchema = schema === null ? test.skip : test;

for (const file of globSync("*.json", { cwd: folder }).toSorted()) {
  const fixture = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Fixture;
  const name = path.basename(file, ".json");
  const eventsFile = path.join(folder, `${name}.events.txt`);
  const request = requestFrom(fixture.request);

  test(`${name}: the request is translated`, (t) => {
    t.deepEqual(viaJson(responses.toChatRequest(request)), fixture.chatRequest);
  });

  if (fixture.chatAnswer !== undefined) {
    const answer = viaJson(responses.formatAnswer(fixture.chatAnswer, envelopeFor(request), request));
    test(`${name}: the response is translated`, (t) => {
      t.deepEqual(answer, fixture.answer);
    });
    testWithSchema(`${name}: the response matches OpenAI's schema`, (t) => {
      t.deepEqual(schema?.faultsOfAnswer(answer), []);
    });
  }
  if (existsSync(eventsFile)) {
    const events = writeStream(request, fixture.chatChoices ?? [], fixture.chatUsage ?? null);
    test(`${name}: the stream is translated`, (t) => {
      t.is(events, readFileSync(eventsFile, "utf8"));
    });
    testWithSchema(`${name}: the stream's events match OpenAI's schema`, (t) => {
      for (const event of readEvents(events)) t.deepEqual(schema?.faultsOfEvent(event), [], event.type);
    });
  }
}

/** Serialization drops undefined members. */
function viaJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
