import type { ServerResponse } from "node:http";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** `begun`: the fault occurs in the middle of the response, otherwise before its start. */
export type Place = { stream: boolean; begun: boolean };

type Scene = {
  response: ServerResponse;
  place: Place;
  /** The part of the valid response that has not been sent yet. */
  rest: string;
  /** Sends the response's status and headers, including the fault's, unless they have been sent. */
  begin(): void;
};

export type Fault = {
  kind: string;
  /** Headers that `begin` adds to those of a valid response. */
  headers?: Record<string, string>;
  /** Whether the fault can only occur before the response begins. */
  isFirst?: true;
  /** Whether the fault requires a short upstream timeout. */
  isSlow?: true;
  play(scene: Scene): void | Promise<void>;
  /** The error that the client receives. Null if the client receives the complete response. */
  error: { status: number; code: string } | null;
};

const broken = { status: 502, code: "upstream_error" };
const tooSlow = { status: 504, code: "upstream_timeout" };
const errorJson = (code: string) =>
  JSON.stringify({ error: { message: "Not now.", type: "some_type", param: null, code } });

export const faults: Fault[] = [
  {
    kind: "resets the connection",
    error: broken,
    play: ({ response }) => void response.socket?.resetAndDestroy(),
  },
  { kind: "stalls", isSlow: true, error: tooSlow, play: () => {} },
  {
    kind: "closes the connection before the announced length",
    headers: { "content-length": "100000" },
    error: broken,
    play({ begin, response }) {
      begin();
      response.socket?.end();
    },
  },
  {
    kind: "closes the connection in the middle of an event and without a last chunk",
    error: broken,
    play({ begin, response, rest }) {
      begin();
      response.write(rest.slice(0, 30), () => response.socket?.end());
    },
  },
  {
    kind: "breaks the rules of HTTP",
    error: broken,
    play: ({ response }) => void response.socket?.end("this is not HTTP\r\n\r\n"),
  },
  {
    kind: "sends something else than completions",
    error: broken,
    play({ begin, response, place }) {
      begin();
      response.end(place.stream ? "data: <html>\n\ndata: [DONE]\n\n" : "<html></html>");
    },
  },
  {
    kind: "ends before it is complete",
    error: broken,
    play({ begin, response }) {
      begin();
      response.end();
    },
  },
  {
    kind: "sends one byte at a time",
    error: null,
    async play({ begin, response, rest }) {
      begin();
      for (const byte of Buffer.from(rest)) {
        response.write(Buffer.from([byte]));
        await nextTurn();
      }
      response.end();
    },
  },
  {
    kind: "cuts every character of several bytes in two",
    error: null,
    async play({ begin, response, rest }) {
      begin();
      const bytes = Buffer.from(rest);
      for (let from = 0; from < bytes.length;) {
        const next = bytes.subarray(from).findIndex((byte) => byte >= 0xc0);
        const to = next === -1 ? bytes.length : from + next + 1;
        response.write(bytes.subarray(from, to));
        from = to;
        await wait(5);
      }
      response.end();
    },
  },
  {
    kind: "sends more than the limit without an end",
    error: broken,
    play({ begin, response }) {
      begin();
      response.write(`data: {"model":"${"a".repeat(200_000)}`);
    },
  },
  {
    kind: "sends a few bytes at a time",
    error: null,
    async play({ begin, response, rest }) {
      begin();
      const step = Math.ceil(rest.length / 6);
      for (let from = 0; from < rest.length; from += step) {
        await wait(20);
        response.write(rest.slice(from, from + step));
      }
      response.end();
    },
  },
  {
    kind: "never comes to an end",
    isSlow: true,
    error: tooSlow,
    async play({ begin, response, place }) {
      begin();
      if (place.stream) response.write("data: ");
      while (!response.closed) {
        response.write(" ");
        await wait(50);
      }
    },
  },
  {
    kind: "sends an error where the answer should be",
    error: broken,
    play({ begin, response, place }) {
      begin();
      response.end(place.stream ? `data: ${errorJson("boom")}\n\ndata: [DONE]\n\n` : errorJson("boom"));
    },
  },
  {
    kind: "sends an error as an event with a name",
    error: broken,
    play({ begin, response }) {
      begin();
      response.end(`event: error\ndata: ${errorJson("boom")}\n\n`);
    },
  },
  {
    kind: "compresses without permission",
    isFirst: true,
    headers: { "content-encoding": "gzip" },
    error: broken,
    play({ begin, response, rest }) {
      begin();
      response.end(gzipSync(rest));
    },
  },
];
