import test from "ava";
import { readUpstreamError } from "../../gateway/completions/read-upstream-error.ts";
import { chat } from "../../gateway/dialects/chat/chat.ts";
import { ChunkRewriter } from "../../gateway/dialects/chat/chunk-rewriter.ts";
import { messages } from "../../gateway/dialects/messages/messages.ts";
import { nativeMessages } from "../../gateway/dialects/messages/native-messages.ts";
import { anthropic } from "../../gateway/providers/anthropic/anthropic.ts";
import { GenerateStreamReader } from "../../gateway/providers/gemini/generate-stream-reader.ts";
import { providerKindNames } from "../../gateway/providers/registry.ts";
import { OutputMeter } from "../../gateway/usage/counting/token-meter.ts";
import { ServerSentEventDecoder } from "../../gateway/wire/server-sent-events.ts";
import { anySize } from "../helpers/body-limits.ts";
import { figures, isFull } from "../helpers/scale.ts";
import { measureGrowth } from "./measure-growth.ts";
import { type RequestPipeline, requestPipelines } from "./request-pipelines.ts";
import { chatShapes } from "./shapes/chat-shapes.ts";
import { embeddingsShapes } from "./shapes/embeddings-shapes.ts";
import { messagesShapes } from "./shapes/messages-shapes.ts";
import { responsesShapes } from "./shapes/responses-shapes.ts";
import { countFor, type Shape, toBytes } from "./shapes/shape.ts";

const shapes = [...chatShapes, ...messagesShapes, ...responsesShapes, ...embeddingsShapes];

const largeBytes = isFull ? 2 * 1024 * 1024 : 384 * 1024;

test.serial("every kind of body takes linear time with every kind of provider", async (t) => {
  t.timeout(900_000);
  const slow: string[] = [];
  let pairs = 0;
  for (const [place, shape] of shapes.entries()) {
    const count = countFor(shape, largeBytes);
    const bodies = bodiesOf(shape, count);
    for (const pipeline of requestPipelines) {
      if (!shape.dialects.includes(pipeline.dialect) || !isTried(pipeline, place)) continue;
      const { run } = pipeline;
      const measure = ({ small, large }: Bodies) =>
        measureGrowth(
          () => run(small),
          () => run(large),
        );
      // A full processor cache can slow down one measurement, but superlinear code slows down both.
      const ratio = (await measure(bodies)) && (await measure(bodiesOf(shape, 4 * count)));
      pairs++;
      if (ratio > 0)
        slow.push(`${pipeline.dialect}, ${shape.name}, ${pipeline.kind}: ${ratio.toFixed(1)} times`);
    }
  }
  t.log(figures("scaling", { pairs, slow: slow.length }));
  t.deepEqual(slow, []);
  t.true(pairs >= 150);
});

type Bodies = { small: Buffer; large: Buffer };

function bodiesOf(shape: Shape, count: number): Bodies {
  return { small: toBytes(shape.body(Math.floor(count / 4))), large: toBytes(shape.body(count)) };
}

/** Below full scale, each shape runs on every third kind of provider, and the next shape on other kinds. */
function isTried({ kind }: RequestPipeline, place: number): boolean {
  return isFull || (providerKindNames.indexOf(kind) - place) % 3 === 0;
}

const { effectiveStatus } = anthropic.connect({ baseUrl: "https://example.com", secret: null, preset: null });

const countMin = 4_000;

const messagesBody = { model: "acme/model", max_tokens: 1, messages: [{ role: "user", content: "Hi" }] };
const messagesRequest = messages.readRequest(Buffer.from(JSON.stringify(messagesBody)), anySize);

/** Data of a hostile upstream, sized by `count`, with the code that reads it. */
const hostileAnswers: Record<string, (count: number) => () => unknown> = {
  "an Anthropic error that repeats known words": (count) => {
    const error = { message: "reached your specified ".repeat(count) };
    return () => effectiveStatus?.(400, { error });
  },
  "an error that looks like keys": (count) => {
    const body = Buffer.from(JSON.stringify({ error: { message: "sk-sk_pk-key_".repeat(count) } }));
    return () => readUpstreamError(400, {}, body, { form: "native", secret: "sk-sk_pk-key_a" });
  },
  "a Gemini stream with a new candidate an event": (count) => () => {
    const reader = new GenerateStreamReader();
    for (let index = 0; index < count; index++) {
      reader.read({ name: "", data: JSON.stringify({ candidates: [{ index }] }) });
      if (reader.state !== "unfinished") throw new Error("No candidate has finished.");
    }
  },
  "a message_start with many messages": (count) => {
    const message = '"message":{"model":"a","content":[]}';
    const data = `{"type":"message_start",${Array(4 * count)
      .fill(message)
      .join()}}`;
    const events = Buffer.from(`event: message_start\ndata: ${data}\n\n`);
    const meter = new OutputMeter(nativeMessages.outputNames());
    return () => {
      nativeMessages.createReader(messagesRequest, "acme/model", meter).read(events);
    };
  },
  "an event of many lines, one of which ends with a carriage return": (count) => {
    const event = Buffer.from(`data: a\r\n${"a\n".repeat(50 * count)}\n`);
    return () => new ServerSentEventDecoder(event.length).push(event);
  },
  "chunks with spaces before their usage": (count) => {
    const chunk = `data: {"model":"a","usage":${" ".repeat(200)}null,"choices":[]}\n\n`;
    const events = Buffer.from(chunk.repeat(count / 20));
    const meter = new OutputMeter(chat.native.outputNames());
    return () =>
      new ChunkRewriter({ slug: "acme/model", includeUsage: false, choicesMin: 1, meter }).rewrite(events);
  },
};

for (const [name, prepare] of Object.entries(hostileAnswers)) {
  test.serial(`parsing ${name} takes linear time`, async (t) => {
    t.is(await measureGrowth(prepare(countMin), prepare(4 * countMin)), 0);
  });
}
