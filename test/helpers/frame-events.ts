import { crc32 } from "node:zlib";

/**
 * Returns the bytes of a recorded stream. Server-sent events are stored verbatim. Binary events are stored as
 * lines of `<name> <json>`, or `!<name> <json>` for an exception.
 */
export function frameEvents(recorded: string, contentType: string): Buffer {
  if (contentType === "text/event-stream") return Buffer.from(recorded);
  const lines = recorded.split("\n").filter((line) => line.trim() !== "");
  return Buffer.concat(lines.map(frameLine));
}

function frameLine(line: string): Buffer {
  const space = line.indexOf(" ");
  const name = line.slice(0, space);
  return frameAwsEvent(name.replace(/^!/, ""), line.slice(space + 1), name.startsWith("!"));
}

/**
 * Returns one message of AWS's event stream: lengths, checksum, headers, payload, total checksum.
 * https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
export function frameAwsEvent(name: string, payload: string, isException = false): Buffer {
  const headers = Buffer.concat(
    Object.entries({
      [isException ? ":exception-type" : ":event-type"]: name,
      ":content-type": "application/json",
      ":message-type": isException ? "exception" : "event",
    }).map(([key, value]) => frameHeader(key, value)),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(12 + headers.length + body.length + 4, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const message = Buffer.concat([prelude, checksum(prelude), headers, body]);
  return Buffer.concat([message, checksum(message)]);
}

function frameHeader(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  const length = Buffer.alloc(3);
  length.writeUInt8(stringType, 0);
  length.writeUInt16BE(text.length, 1);
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), length, text]);
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

const stringType = 7;
