import test from "ava";
import { crc32 } from "node:zlib";
import { AwsEventStreamDecoder } from "../../../gateway/providers/bedrock/aws-event-stream-decoder.ts";
import { frameAwsEvent } from "../../helpers/frame-events.ts";

const events = [
  { name: "messageStart", data: '{"role":"assistant"}' },
  { name: "contentBlockDelta", data: '{"delta":{"text":"Grüezi 🌍"}}' },
  { name: "empty", data: "" },
];
const bytes = Buffer.concat(events.map(({ name, data }) => frameAwsEvent(name, data)));

test("events are decoded completely, wherever the bytes are cut", (t) => {
  for (let size = 1; size <= bytes.length; size++) {
    const decoder = new AwsEventStreamDecoder(1_000);
    const found = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...decoder.push(bytes.subarray(at, at + size)));
    }
    t.deepEqual(found, events, `pieces of ${size} bytes`);
    t.false(decoder.isTooLong);
  }
});

test("an exception has its own name, and an error without a model another", (t) => {
  const decoder = new AwsEventStreamDecoder(1_000);
  const [exception] = decoder.push(frameAwsEvent("throttlingException", '{"message":"Slow down."}', true));
  t.deepEqual(exception, { name: "throttlingException", data: '{"message":"Slow down."}' });
  const [error] = decoder.push(
    frame({ ":message-type": "error", ":error-code": "Internal", ":error-message": "Oh no." }),
  );
  t.deepEqual(error, { name: "unmodeledError", data: '{"message":"Oh no."}' });
});

test("headers of every type are skipped", (t) => {
  const flag = Buffer.from("\u0004flag\u0000");
  const number = Buffer.from("\u0001n\u0004\u0000\u0000\u0000\u0007");
  const type = headerBytes(":event-type", "ping");
  const decoder = new AwsEventStreamDecoder(1_000);
  t.deepEqual(decoder.push(frameBytes(Buffer.concat([flag, type, number]))), [{ name: "ping", data: "" }]);
});

test("a single flipped bit is detected", (t) => {
  const message = frameAwsEvent("messageStop", '{"stopReason":"end_turn"}');
  // The first four bytes contain the length, so damage there only delays the error.
  for (let at = 4; at < message.length; at++) {
    const damaged = Buffer.from(message);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    t.throws(() => new AwsEventStreamDecoder(1_000).push(damaged), undefined, `byte ${at}`);
  }
});

test("an oversized event is rejected by its first four bytes and not buffered", (t) => {
  const length = frameAwsEvent("a", "b").length;
  t.is(new AwsEventStreamDecoder(length).push(frameAwsEvent("a", "b")).length, 1);

  const decoder = new AwsEventStreamDecoder(length - 1);
  t.deepEqual(decoder.push(frameAwsEvent("a", "b").subarray(0, 3)), []);
  t.false(decoder.isTooLong);
  t.deepEqual(decoder.push(frameAwsEvent("a", "b").subarray(3, 4)), []);
  t.true(decoder.isTooLong);
  t.deepEqual(decoder.push(Buffer.alloc(100_000)), []);
  t.true(decoder.isTooLong);
});

test("an invalid message throws", (t) => {
  for (const length of [0, 4, 15]) {
    const prelude = Buffer.alloc(16);
    prelude.writeUInt32BE(length);
    t.throws(() => new AwsEventStreamDecoder(1_000).push(prelude), undefined, `a length of ${length}`);
  }
  const page = new AwsEventStreamDecoder(1_000_000);
  page.push(Buffer.from("<html><body>502 Bad Gateway</body></html>"));
  t.true(page.isTooLong);
});

/** Returns a message with the given headers and no body. */
function frame(headers: Record<string, string>): Buffer {
  return frameBytes(Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value))));
}

function frameBytes(headers: Buffer): Buffer {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(headers.length + 16, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, headers, Buffer.alloc(4)]);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function headerBytes(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), length, Buffer.from(value)]);
}
