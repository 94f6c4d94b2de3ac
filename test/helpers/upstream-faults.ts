import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";

type Scene = {
  response: ServerResponse;
  stream: boolean;
  /** The part of the valid response that has not been sent yet. */
  rest: Buffer;
  /** Sends the response's status and headers, including the fault's, unless they have been sent. */
  begin(): void;
  /** An error response in the format of the upstream. */
  errorBody: string;
};

export type Fault = {
  what: string;
  /** Headers that `begin` adds to those of a valid response. */
  headers?: Record<string, string>;
  /** Whether the fault can only occur before the response begins. */
  isFirst?: true;
  play(scene: Scene): void | Promise<void>;
  /** The error that the client receives. Null if the client receives the complete response. */
  error: { status: number; code: string | null } | null;
};

const broken = { status: 502, code: "upstream_error" };
const tooSlow = { status: 504, code: "upstream_timeout" };

/** The upstream waits until a timeout of the gateway ends the call. */
export function isSlow({ error }: Partial<Fault>): boolean {
  return error === tooSlow;
}

/** Returns a fault that sends the body in place of the rest of the response. */
function sends(what: string, body: (scene: Scene) => string | Buffer): Fault {
  return {
    what,
    error: broken,
    play(scene) {
      scene.begin();
      scene.response.end(body(scene));
    },
  };
}

/** Faults in any format. */
const faults: Fault[] = [
  {
    what: "resets the connection",
    error: broken,
    play: ({ response }) => void response.socket?.resetAndDestroy(),
  },
  { what: "stalls", error: tooSlow, play: () => {} },
  {
    what: "closes the connection before the announced length",
    headers: { "content-length": "100000" },
    error: broken,
    play({ begin, response }) {
      begin();
      response.socket?.end();
    },
  },
  {
    what: "closes the connection in the middle of an event and without a last chunk",
    error: broken,
    play({ begin, response, rest }) {
      begin();
      response.write(rest.subarray(0, 30), () => response.socket?.end());
    },
  },
  {
    what: "breaks the rules of HTTP",
    error: broken,
    play: ({ response }) => void response.socket?.end("this is not HTTP\r\n\r\n"),
  },
  sends("ends before it is complete", () => ""),
  {
    what: "sends one byte at a time",
    error: null,
    async play({ begin, response, rest }) {
      begin();
      for (const byte of rest) {
        response.write(Buffer.of(byte));
        await nextTurn();
      }
      response.end();
    },
  },
  {
    what: "sends more than the limit without an end",
    error: broken,
    play({ begin, response }) {
      begin();
      response.write(`data: {"model":"${"a".repeat(200_000)}`);
    },
  },
  {
    ...sends("compresses without permission", ({ rest }) => gzipSync(rest)),
    isFirst: true,
    headers: { "content-encoding": "gzip" },
  },
];

/** Faults of an upstream with chat completions, before or in the middle of a response. */
export const chatFaults: Fault[] = [
  ...faults,
  sends("sends something else than completions", ({ stream }) =>
    stream ? "data: <html>\n\ndata: [DONE]\n\n" : "<html></html>",
  ),
  {
    what: "cuts every character of several bytes in two",
    error: null,
    async play({ begin, response, rest }) {
      begin();
      for (let from = 0; from < rest.length;) {
        const next = rest.subarray(from).findIndex((byte) => byte >= 0xc0);
        const to = next === -1 ? rest.length : from + next + 1;
        response.write(rest.subarray(from, to));
        from = to;
        await wait(5);
      }
      response.end();
    },
  },
  {
    what: "sends a few bytes at a time",
    error: null,
    async play({ begin, response, rest }) {
      begin();
      const step = Math.ceil(rest.length / 6);
      for (let from = 0; from < rest.length; from += step) {
        await wait(20);
        response.write(rest.subarray(from, from + step));
      }
      response.end();
    },
  },
  {
    what: "never comes to an end",
    error: tooSlow,
    async play({ begin, response, stream }) {
      begin();
      if (stream) response.write("data: ");
      while (!response.closed) {
        response.write(" ");
        await wait(50);
      }
    },
  },
  sends("sends an error where the answer should be", ({ stream, errorBody }) =>
    stream ? `data: ${errorBody}\n\ndata: [DONE]\n\n` : errorBody,
  ),
  sends("sends an error as an event with a name", ({ errorBody }) => `event: error\ndata: ${errorBody}\n\n`),
];

/** Faults of an upstream with another API, instead of a response. */
export const nativeFaults: Fault[] = [
  ...faults,
  { what: "stalls after its head", error: tooSlow, play: ({ begin }) => begin() },
  {
    what: "stalls midway",
    error: tooSlow,
    play({ begin, response, rest }) {
      begin();
      response.write(rest.subarray(0, rest.length / 2));
    },
  },
  sends("sends noise", () => Buffer.from("\x00\xff\xfe{]data: \n\n\n\n\x12".repeat(20), "latin1")),
  ...[
    "{}",
    "[]",
    "null",
    "7",
    '{"choices":[]}',
    '{"candidates":5,"content":null,"output":[],"type":"message_stop"}',
  ].map((json) =>
    sends(`sends ${json.replaceAll('"', "'")}`, ({ stream }) =>
      stream ? `event: message_start\ndata: ${json}\n\ndata: ${json}\n\n` : json,
    ),
  ),
  {
    what: "answers with a web page",
    error: broken,
    play({ response }) {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
      response.end("<html><body>data: Welcome</body></html>");
    },
  },
  ...[400, 404, 413, 422, 429].map((status) => answersWith(status, { status, code: null })),
  ...[401, 403].map((status) => answersWith(status, { status: 502, code: "upstream_auth_failed" })),
  ...[302, 307, 500, 503, 529].map((status) => answersWith(status, broken)),
];

function answersWith(status: number, error: Fault["error"]): Fault {
  return {
    what: `answers with HTTP status ${status}`,
    error,
    play({ response, errorBody }) {
      const elsewhere = status < 400 ? { location: "/elsewhere" } : {};
      response.writeHead(status, { "content-type": "application/json", ...elsewhere }).end(errorBody);
    },
  };
}
