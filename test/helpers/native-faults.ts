import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { NativeRecording } from "./native-recordings.ts";

type NativeScene = {
  recording: NativeRecording;
  stream: boolean;
  response: ServerResponse;
  /** Sends the head of a valid response. */
  begin(headers?: Record<string, string>): void;
  pieces: Buffer[];
};

export type NativeFault = {
  what: string;
  play(scene: NativeScene): void | Promise<void>;
  /** The error that the client receives. Null if it receives none. */
  error: { status: number; code: string | null } | null;
};

const broken = { status: 502, code: "upstream_error" };
const tooSlow = { status: 504, code: "upstream_timeout" };

export const nativeFaults: NativeFault[] = [
  {
    what: "resets the connection",
    error: broken,
    play: ({ response }) => void response.socket?.resetAndDestroy(),
  },
  { what: "never answers", error: tooSlow, play: () => {} },
  { what: "stalls after its head", error: tooSlow, play: ({ begin }) => begin() },
  {
    what: "stalls midway",
    error: tooSlow,
    play({ begin, response, pieces }) {
      begin();
      response.write(pieces[0]);
    },
  },
  {
    what: "sends less than its Content-Length",
    error: broken,
    play({ begin, response }) {
      begin({ "content-length": "100000" });
      response.socket?.end();
    },
  },
  {
    what: "closes without a last chunk",
    error: broken,
    play({ begin, response, pieces }) {
      begin();
      response.write(pieces[0]?.subarray(0, 20), () => response.socket?.destroy());
    },
  },
  {
    what: "violates HTTP",
    error: broken,
    play: ({ response }) => void response.socket?.end("this is not HTTP\r\n\r\n"),
  },
  {
    what: "sends an empty body",
    error: broken,
    play: ({ begin, response }) => (begin(), void response.end()),
  },
  {
    what: "sends noise",
    error: broken,
    play({ begin, response }) {
      begin();
      response.end(Buffer.from("\x00\xff\xfe{]data: \n\n\n\n\x12".repeat(20), "latin1"));
    },
  },
  ...[
    "{}",
    "[]",
    "null",
    "7",
    '{"choices":[]}',
    '{"candidates":5,"content":null,"output":[],"type":"message_stop"}',
  ].map((json): NativeFault => ({
    what: `sends ${json.replaceAll('"', "'")}`,
    error: broken,
    play({ begin, response, stream }) {
      begin();
      response.end(stream ? `event: message_start\ndata: ${json}\n\ndata: ${json}\n\n` : json);
    },
  })),
  {
    what: "sends one event without an end",
    error: broken,
    play({ begin, response }) {
      begin();
      response.write(`data: {"text":"${"a".repeat(200_000)}`);
    },
  },
  {
    what: "answers with a web page",
    error: broken,
    play({ response }) {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end("<html><body>data: Welcome</body></html>");
    },
  },
  {
    what: "compresses without permission",
    error: broken,
    play({ begin, response, pieces }) {
      begin({ "content-encoding": "gzip" });
      response.end(gzipSync(Buffer.concat(pieces)));
    },
  },
  {
    what: "sends one byte at a time",
    error: null,
    async play({ begin, response, pieces }) {
      begin();
      for (const byte of Buffer.concat(pieces)) {
        response.write(Buffer.of(byte));
        await nextTurn();
      }
      response.end();
    },
  },
  ...[400, 404, 413, 422, 429].map((status) => answersWith(status, { status, code: null })),
  ...[401, 403].map((status) => answersWith(status, { status: 502, code: "upstream_auth_failed" })),
  ...[302, 307, 500, 503, 529].map((status) => answersWith(status, broken)),
];

function answersWith(status: number, error: NativeFault["error"]): NativeFault {
  return {
    what: `answers with HTTP status ${status}`,
    error,
    play({ response, recording }) {
      const elsewhere = status < 400 ? { location: "/elsewhere" } : {};
      response.writeHead(status, { "content-type": "application/json", ...elsewhere });
      response.end(recording.errorBody(`Not now, ${recording.secret}.`));
    },
  };
}
