import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { NativeStream } from "../../../gateway/completions/conversation.ts";
import { messages } from "../../../gateway/dialects/messages/messages.ts";
import type { ChatAnswer } from "../../../gateway/providers/provider.ts";
import type { ChatUsage, ChunkChoice } from "../../../gateway/wire/chat-completion.ts";
import { envelope, readEvents, requestFrom, viaJson, writeStream } from "./messages-dialect.ts";
import { putTogether } from "./put-together.ts";

/**
 * The fields of a fixture. Each pair is one translation and its result. The events are in a separate file.
 */
type Fixture = {
  request: object;
  chatRequest?: unknown;
  chatAnswer?: ChatAnswer;
  answer?: unknown;
  chatChoices?: ChunkChoice[];
  chatUsage?: ChatUsage | null;
};

const folder = path.resolve(import.meta.dirname, "../../fixtures/dialects/messages");

for (const file of globSync("*.json", { cwd: folder }).toSorted()) {
  const fixture = JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Fixture;
  const name = path.basename(file, ".json");
  const request = requestFrom(fixture.request);

  if (fixture.chatRequest !== undefined) {
    test(`${name}: the request is translated`, (t) => {
      t.deepEqual(viaJson(messages.toChatRequest(request)), fixture.chatRequest);
    });
  }
  if (fixture.chatAnswer !== undefined) {
    const { chatAnswer } = fixture;
    test(`${name}: the response is translated`, (t) => {
      t.deepEqual(viaJson(messages.formatAnswer(chatAnswer, envelope, request)), fixture.answer);
    });
  }
  if (fixture.chatChoices !== undefined) {
    const { chatChoices, chatUsage = null } = fixture;
    const events = writeStream(chatChoices, chatUsage, fixture.request);
    test(`${name}: the stream is translated`, (t) => {
      t.is(events, readFileSync(path.join(folder, `${name}.events.txt`), "utf8"));
    });
    if (fixture.answer !== undefined) {
      test(`${name}: the stream and the response have the same content`, (t) => {
        t.deepEqual(putTogether(readEvents(events)), fixture.answer);
      });
    }
  }
}

for (const file of globSync("*.native.txt", { cwd: folder }).toSorted()) {
  const bytes = readFileSync(path.join(folder, file));
  const name = path.basename(file, ".native.txt");
  const expected = readFileSync(path.join(folder, `${name}.native-relayed.txt`), "utf8");

  for (const size of [bytes.length, 7, 1]) {
    test(`${name}: Anthropic's own stream passes in pieces of ${size} bytes`, (t) => {
      const stream = new NativeStream({
        native: messages.native,
        request: requestFrom({}),
        slug: "anthropic/claude-sonnet-4.5",
        eventBytesMax: 65_536,
        secret: null,
      });
      let relayed = "";
      let usage: unknown = null;
      let ending: unknown = null;
      for (let at = 0; at < bytes.length; at += size) {
        t.is(ending, null);
        const piece = stream.push(bytes.subarray(at, at + size));
        relayed += piece.bytes.toString("latin1");
        ending = piece.ending;
        usage = piece.usage ?? usage;
      }
      t.is(Buffer.from(relayed, "latin1").toString("utf8"), expected);
      const usageFile = path.join(folder, `${name}.native-usage.json`);
      if (existsSync(usageFile)) {
        t.is(ending, "done");
        t.deepEqual(usage, JSON.parse(readFileSync(usageFile, "utf8")));
      } else t.true(ending instanceof Error);
    });
  }
}
