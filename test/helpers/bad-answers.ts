import { chunked, hello, type HttpAnswer } from "./good-answers.ts";

const bad: Pick<HttpAnswer, "result"> = { result: { error: "its response violates HTTP" } };
const cut: Pick<HttpAnswer, "result"> = { result: { error: "the connection was closed" } };

/** Responses that violate HTTP. */
const malformed: HttpAnswer[] = [
  { name: "no HTTP", bytes: "this is not HTTP\r\n\r\n", ...bad },
  { name: "another protocol", bytes: "SSH-2.0-OpenSSH_9.6\r\n", ...bad },
  { name: "TLS where there should be none", bytes: "\x15\x03\x03\x00\x02\x02\x28", ...bad },
  { name: "an empty line first", bytes: `\r\n${hello("content-length: 5\r\n")}`, ...bad },
  { name: "a space first", bytes: ` ${hello("content-length: 5\r\n")}`, ...bad },
  { name: "HTTP/2", bytes: "HTTP/2 200\r\ncontent-length: 5\r\n\r\nhello", ...bad },
  { name: "HTTP/1.2", bytes: "HTTP/1.2 200 OK\r\ncontent-length: 5\r\n\r\nhello", ...bad },
  { name: "http in small letters", bytes: "http/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", ...bad },
  { name: "a status of two digits", bytes: "HTTP/1.1 20 OK\r\ncontent-length: 5\r\n\r\nhello", ...bad },
  { name: "a status of four digits", bytes: "HTTP/1.1 2000 OK\r\ncontent-length: 5\r\n\r\nhello", ...bad },
  {
    name: "a status that begins with zero",
    bytes: "HTTP/1.1 099 OK\r\ncontent-length: 5\r\n\r\nhello",
    ...bad,
  },
  {
    name: "two spaces before the status",
    bytes: "HTTP/1.1  200 OK\r\ncontent-length: 5\r\n\r\nhello",
    ...bad,
  },
  {
    name: "words that stick to the status",
    bytes: "HTTP/1.1 200OK\r\ncontent-length: 5\r\n\r\nhello",
    ...bad,
  },
  { name: "an upgrade", bytes: "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n", ...bad },
  { name: "bare line feeds", bytes: "HTTP/1.1 200 OK\ncontent-length: 5\n\nhello", ...bad },
  { name: "one bare line feed", bytes: hello("x: y\ncontent-length: 5\r\n"), ...bad },
  {
    name: "a bare line feed at the end",
    bytes: hello("content-length: 5\r\n").replace("\r\n\r\n", "\r\n\n"),
    ...bad,
  },
  {
    name: "a bare carriage return",
    bytes: hello("x: y\rcontent-length: 3\r\ncontent-length: 5\r\n"),
    ...bad,
  },
  { name: "NUL in a value", bytes: hello("x: a\0b\r\ncontent-length: 5\r\n"), ...bad },
  { name: "a control character in a value", bytes: hello("x: a\x0bb\r\ncontent-length: 5\r\n"), ...bad },
  {
    name: "a control character in the words",
    bytes: "HTTP/1.1 200 O\x7fK\r\ncontent-length: 5\r\n\r\nhello",
    ...bad,
  },
  {
    name: "a value that goes on in the next line",
    bytes: hello("x: a\r\n b\r\ncontent-length: 5\r\n"),
    ...bad,
  },
  { name: "a line that begins with a tab", bytes: hello("\tcontent-length: 5\r\n"), ...bad },
  { name: "a line without a colon", bytes: hello("nonsense\r\ncontent-length: 5\r\n"), ...bad },
  { name: "a header without a name", bytes: hello(": x\r\ncontent-length: 5\r\n"), ...bad },
  { name: "a space before the colon", bytes: hello("content-length : 5\r\n"), ...bad },
  { name: "a name with a space in it", bytes: hello("content length: 5\r\n"), ...bad },
  { name: "a name beyond ASCII", bytes: hello("gr\xfc\xdfe: x\r\ncontent-length: 5\r\n"), ...bad },
  { name: "a head of 17 KB", bytes: hello(`x: ${"y".repeat(17 * 1024)}\r\ncontent-length: 5\r\n`), ...bad },
  { name: "a field too many", bytes: hello(`${"x: y\r\n".repeat(256)}content-length: 5\r\n`), ...bad },
  { name: "a head without an end", bytes: `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(4_000)}`, ...bad },
  { name: "provisional heads without an end", bytes: "HTTP/1.1 103 X\r\nx: y\r\n\r\n".repeat(1_000), ...bad },
  { name: "two lengths", bytes: hello("content-length: 5\r\ncontent-length: 6\r\n"), ...bad },
  { name: "two lengths in a list", bytes: hello("content-length: 5, 6\r\n"), ...bad },
  { name: "two ways to write a length", bytes: hello("content-length: 5\r\ncontent-length: 05\r\n"), ...bad },
  ...["", "-5", "+5", "5.0", "0x5", "5 5", "5;", "５", "\xa05", "five", "9".repeat(16), "5,"].map(
    (length) => ({
      name: `a length of "${length}"`,
      bytes: hello(`content-length: ${length}\r\n`.replace("５", "\xef\xbc\x95")),
      ...bad,
    }),
  ),
  { name: "a length and chunks", bytes: chunked("5\r\nhello\r\n0\r\n\r\n", "content-length: 5\r\n"), ...bad },
  {
    name: "chunks in HTTP/1.0",
    bytes: chunked("5\r\nhello\r\n0\r\n\r\n").replace("HTTP/1.1", "HTTP/1.0"),
    ...bad,
  },
  ...[
    "",
    "gzip",
    "gzip, chunked",
    "chunked, chunked",
    "chunked, identity",
    "identity",
    "xchunked",
    "chunked;a=b",
    '"chunked"',
    "chunked\x0b",
  ].map((encoding) => ({
    name: `a transfer-encoding of "${encoding}"`,
    bytes: hello(`transfer-encoding: ${encoding}\r\n`, "5\r\nhello\r\n0\r\n\r\n"),
    ...bad,
  })),
  {
    name: "chunked in two headers",
    bytes: hello("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n"),
    ...bad,
  },
  ...[
    "\r\n",
    "-5\r\nhello",
    "+5\r\nhello",
    "0x5\r\nhello",
    " 5\r\nhello",
    "5 \r\nhello",
    "5\nhello",
    "5\rhello",
    "g\r\n",
    ";a\r\n",
    "1000000000000\r\n",
    "5;a\nb\r\nhello",
    "5;\x00\r\nhello",
  ].map((size) => ({
    name: `a chunk that begins with ${JSON.stringify(size)}`,
    bytes: chunked(size),
    ...bad,
  })),
  ...["helloX\r\n", "hello\n", "hello\rX", "hello0\r\n\r\n"].map((data) => ({
    name: `a chunk of five bytes that is ${JSON.stringify(data)}`,
    bytes: chunked(`5\r\n${data}`),
    ...bad,
  })),
  {
    name: "chunk extensions of 17 KB",
    bytes: chunked(`5;${"x".repeat(17 * 1024)}\r\nhello\r\n0\r\n\r\n`),
    ...bad,
  },
  { name: "trailers of 17 KB", bytes: chunked(`0\r\n${"x: y\r\n".repeat(8_000)}\r\n`), ...bad },
  { name: "trailers with a bare line feed", bytes: chunked("0\r\nx: y\n\r\n"), ...bad },
  ...["x y: z", "nonsense", ": x", " x: y", "HTTP/1.1 200 OK"].map((trailer) => ({
    name: `a trailer "${trailer}"`,
    bytes: chunked(`0\r\n${trailer}\r\n\r\n`),
    ...bad,
  })),
  { name: "a last chunk with a bare line feed", bytes: chunked("0\r\n\n"), ...bad },
];

/** Responses that the upstream never completes. */
const brokenOff: HttpAnswer[] = [
  { name: "nothing", bytes: "", closes: true, ...cut },
  { name: "half a status line", bytes: "HTTP/1.1 2", closes: true, ...cut },
  { name: "half a head", bytes: "HTTP/1.1 200 OK\r\ncontent-le", closes: true, ...cut },
  { name: "only a provisional head", bytes: "HTTP/1.1 100 Continue\r\n\r\n", closes: true, ...cut },
  { name: "a head without its body", bytes: hello("content-length: 5\r\n", ""), closes: true, ...cut },
  { name: "half a body", bytes: hello("content-length: 5\r\n", "hel"), closes: true, ...cut },
  {
    name: "half a body of a last answer",
    bytes: hello("content-length: 5\r\nconnection: close\r\n", "hel"),
    closes: true,
    ...cut,
  },
  { name: "half a chunk", bytes: chunked("5\r\nhel"), closes: true, ...cut },
  { name: "no last chunk", bytes: chunked("5\r\nhello\r\n"), closes: true, ...cut },
  {
    name: "no last chunk, and connection: close",
    bytes: chunked("5\r\nhello\r\n", "connection: close\r\n"),
    closes: true,
    ...cut,
  },
  {
    name: "a last chunk without its empty line",
    bytes: chunked("5\r\nhello\r\n0\r\n"),
    closes: true,
    ...cut,
  },
];

export const badAnswers = [...malformed, ...brokenOff];
