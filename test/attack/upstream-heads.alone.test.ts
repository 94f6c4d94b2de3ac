import test from "ava";
import { parseAnswerHead, AnswerReader } from "../../gateway/upstream/answer-reader.ts";
import { defaultHttpLimits } from "../helpers/call-upstream.ts";
import { figures } from "../helpers/scale.ts";
import { measureGrowth } from "./measure-growth.ts";

const limits = {
  ...defaultHttpLimits,
  upstreamHeadBytesMax: Number.MAX_SAFE_INTEGER,
  upstreamHeadFieldsMax: Number.MAX_SAFE_INTEGER,
};
/** A size just below the default `upstreamHeadBytesMax`, and four times this size. */
const sizes = [16_000, 64_000] as const;
const blockMsMax = 5;
const growthMax = 8;

const fill = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length));

const hostileFields: Record<string, (length: number) => string> = {
  "Connection of tabs": (length) => `connection: a${fill("\t", length)}b`,
  "Connection of commas": (length) => `connection: ${fill(" ,", length)}`,
  "Connection of tabs and commas": (length) => `connection: ${fill("a\t\t\t\t,", length)}`,
  "Keep-Alive of tabs": (length) => `keep-alive: a${fill("\t", length)}b`,
  "Keep-Alive of timeouts": (length) => `keep-alive: ${fill("timeout=", length)}`,
  "Keep-Alive of digits": (length) => `keep-alive: timeout=${fill("1", length)}`,
  "value in spaces": (length) => `a: ${fill(" ", length)}b${fill("\t", length)}`,
  "name of dashes": (length) => `${fill("-", length)}: a`,
  "value of colons": (length) => `a: ${fill(":", length)}`,
  "field again and again": (length) => fill("a: b\r\n", length) + "a: b",
  "Content-Length of digits": (length) => `content-length: ${fill("1", length)}`,
  "Content-Length of tabs": (length) => `content-length: 0${fill("\t", length)}1`,
  "Content-Length of a list": (length) => `content-length: ${fill("0 , ", length)}1`,
  "Transfer-Encoding of a list": (length) => `transfer-encoding: ${fill("chunked,", length)}`,
};

for (const [name, field] of Object.entries(hostileFields)) {
  test(`a response head with a ${name} is parsed in linear time`, (t) => {
    const [short, long] = sizes.map((length) => {
      const text = field(length);
      const hasFraming = /^(content-length|transfer-encoding)/.test(text);
      const head = `HTTP/1.1 200 OK\r\n${hasFraming ? "" : "content-length: 0\r\n"}${text}`;
      return bestMs(() => parseAnswerHead(head, limits));
    }) as [number, number];
    t.log(figures(name, { shortMs: short.toFixed(2), longMs: long.toFixed(2) }));
    t.true(short < blockMsMax, `${short} ms`);
    t.true(long < growthMax * Math.max(short, 1), `${short} → ${long} ms`);
  });
}

test("a response head that arrives byte by byte is parsed in linear time", async (t) => {
  const [short, long] = sizes.map((length) => {
    const bytes = Buffer.from(`HTTP/1.1 200 ${fill("a", length)}`);
    return () => {
      const reader = new AnswerReader(limits);
      for (let at = 0; at < bytes.length; at++) reader.push(bytes.subarray(at, at + 1));
    };
  }) as [() => void, () => void];
  t.is(await measureGrowth(short, long), 0);
});

/** Returns the least CPU time of five attempts in ms, because garbage collection slows down some. Ignores errors. */
function bestMs(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage();
    try {
      run();
    } catch {}
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
