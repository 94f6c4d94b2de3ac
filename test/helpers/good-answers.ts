export type HttpAnswer = {
  name: string;
  /** The response, with one character per byte. */
  bytes: string;
  /** Whether the upstream closes the connection after the response. */
  closes?: true;
  result: { status: number; body: string } | { error: string };
  isKept?: true;
};

export const hello = (head: string, body = "hello") => `HTTP/1.1 200 OK\r\n${head}\r\n${body}`;
export const chunked = (body: string, head = "") => hello(`Transfer-Encoding: chunked\r\n${head}`, body);
const fine = (body = "hello", status = 200): Pick<HttpAnswer, "result" | "isKept"> => ({
  result: { status, body },
  isKept: true,
});
const last = (body = "hello", status = 200): Pick<HttpAnswer, "result"> => ({ result: { status, body } });
const wellFormed: HttpAnswer[] = [
  { name: "a content-length", bytes: hello("Content-Length: 5\r\n"), ...fine() },
  { name: "no words after the status", bytes: "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", ...fine("hi") },
  { name: "not even a space there", bytes: "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", ...fine("hi") },
  { name: "words in Latin-1", bytes: "HTTP/1.1 200 Grü\xdfe\r\nContent-Length: 2\r\n\r\nhi", ...fine("hi") },
  { name: "an empty body", bytes: hello("Content-Length: 0\r\n", ""), ...fine("") },
  { name: "a length with zeros before it", bytes: hello("Content-Length: 005\r\n"), ...fine() },
  { name: "no space after a colon", bytes: hello("content-length:5\r\n"), ...fine() },
  { name: "spaces and tabs around a value", bytes: hello("content-length: \t 5 \t \r\n"), ...fine() },
  { name: "an empty value", bytes: hello("x-empty:\r\ncontent-length: 5\r\n"), ...fine() },
  { name: "the same length twice", bytes: hello("content-length: 5\r\ncontent-length: 5\r\n"), ...fine() },
  { name: "the same length in a list", bytes: hello("content-length: 5, 5\r\n"), ...fine() },
  {
    name: "every character of a name",
    bytes: hello("!#$%&'*+-.^_`|~09aZ: x\r\ncontent-length: 5\r\n"),
    ...fine(),
  },
  {
    name: "names of JavaScript's own",
    bytes: hello("__proto__: x\r\n__proto__: y\r\nconstructor: z\r\ncontent-length: 5\r\n"),
    ...fine(),
  },
  {
    name: "bytes above ASCII in a value",
    bytes: hello("x: \xa0\xff\x80\r\ncontent-length: 5\r\n"),
    ...fine(),
  },
  {
    name: "an error with a body",
    bytes: "HTTP/1.1 500 Oh no\r\ncontent-length: 4\r\n\r\nboom",
    ...fine("boom", 500),
  },
  {
    name: "a status nobody knows",
    bytes: "HTTP/1.1 799 Odd\r\ncontent-length: 2\r\n\r\nhi",
    ...fine("hi", 799),
  },
  {
    name: "a redirect",
    bytes: "HTTP/1.1 307 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nhi",
    ...fine("hi", 307),
  },
  { name: "204, which has no body", bytes: "HTTP/1.1 204 No Content\r\n\r\n", ...fine("", 204) },
  {
    name: "204 with a length of nothing",
    bytes: "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n",
    ...fine("", 204),
  },
  {
    name: "204 that announces a body",
    bytes: "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n",
    ...last("", 204),
  },
  {
    name: "204 that is chunked",
    bytes: "HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n",
    ...last("", 204),
  },
  {
    name: "204 with a body",
    bytes: "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello",
    ...last("", 204),
  },
  { name: "304, which has no body", bytes: "HTTP/1.1 304 Not Modified\r\n\r\n", ...fine("", 304) },
  { name: "205 with a length", bytes: "HTTP/1.1 205 Reset\r\ncontent-length: 0\r\n\r\n", ...fine("", 205) },
  {
    name: "100 before it",
    bytes: `HTTP/1.1 100 Continue\r\n\r\n${hello("content-length: 5\r\n")}`,
    ...fine(),
  },
  {
    name: "102 and 103 before it",
    bytes: `HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${hello("content-length: 5\r\n")}`,
    ...fine(),
  },
  {
    name: "a length in a provisional head",
    bytes: `HTTP/1.1 103 X\r\ncontent-length: 3\r\n\r\n${hello("content-length: 5\r\n")}`,
    ...fine(),
  },
  { name: "chunks", bytes: chunked("5\r\nhello\r\n0\r\n\r\n"), ...fine() },
  { name: "several chunks", bytes: chunked("1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n"), ...fine() },
  { name: "no chunk but the last", bytes: chunked("0\r\n\r\n"), ...fine("") },
  {
    name: "CHUNKED",
    bytes: hello("TRANSFER-ENCODING: \tCHUNKED \r\n", "5\r\nhello\r\n0\r\n\r\n"),
    ...fine(),
  },
  {
    name: "sizes in capitals and with zeros",
    bytes: chunked(`000A\r\n0123456789\r\n000\r\n\r\n`),
    ...fine("0123456789"),
  },
  {
    name: "a chunk that looks like the end",
    bytes: chunked("7\r\n0\r\n\r\nab\r\n0\r\n\r\n"),
    ...fine("0\r\n\r\nab"),
  },
  { name: "chunk extensions", bytes: chunked('5;a=b;c="d e"\r\nhello\r\n0;x\r\n\r\n'), ...fine() },
  { name: "trailers", bytes: chunked("5\r\nhello\r\n0\r\nx-sum: 1\r\ncontent-length: 3\r\n\r\n"), ...fine() },
  { name: "no length and a close", bytes: hello("content-type: text/plain\r\n"), closes: true, ...last() },
  { name: "no length, no body and a close", bytes: hello("", ""), closes: true, ...last("") },
  { name: "connection: close", bytes: hello("content-length: 5\r\nconnection: close\r\n"), ...last() },
  {
    name: "close among other options",
    bytes: hello("content-length: 5\r\nconnection: keep-alive, X-Y ,\tClose\r\n"),
    ...last(),
  },
  {
    name: "close in a second header",
    bytes: hello("content-length: 5\r\nconnection: keep-alive\r\nconnection: close\r\n"),
    ...last(),
  },
  {
    name: "keep-alive",
    bytes: hello("content-length: 5\r\nconnection: keep-alive\r\nkeep-alive: timeout=5, max=10\r\n"),
    ...fine(),
  },
  {
    name: "keep-alive for a second",
    bytes: hello("content-length: 5\r\nkeep-alive: timeout=1\r\n"),
    ...last(),
  },
  { name: "HTTP/1.0 with a length", bytes: "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", ...last() },
  {
    name: "HTTP/1.0 that keeps the connection",
    bytes: "HTTP/1.0 200 OK\r\ncontent-length: 5\r\nconnection: Keep-Alive\r\n\r\nhello",
    ...fine(),
  },
  { name: "HTTP/1.0 until the close", bytes: "HTTP/1.0 200 OK\r\n\r\nhello", closes: true, ...last() },
  { name: "a close right after the end", bytes: hello("content-length: 5\r\n"), closes: true, ...last() },
  {
    name: "as many fields as are taken",
    bytes: hello(`${"x: y\r\n".repeat(255)}content-length: 5\r\n`),
    ...fine(),
  },
  {
    name: "a head of 15 KB",
    bytes: hello(`${`x-long: ${"0123456789".repeat(10)}\r\n`.repeat(140)}content-length: 5\r\n`),
    ...fine(),
  },
];

const surplus: HttpAnswer[] = [
  { name: "a byte too much", bytes: `${hello("content-length: 5\r\n")}!`, ...last() },
  { name: "an empty line too much", bytes: `${hello("content-length: 5\r\n")}\r\n`, ...last() },
  { name: "a second answer", bytes: hello("content-length: 5\r\n").repeat(2), ...last() },
  {
    name: "a second answer after the last chunk",
    bytes: chunked("5\r\nhello\r\n0\r\n\r\n").repeat(2),
    ...last(),
  },
  { name: "a body that 304 cannot have", bytes: "HTTP/1.1 304 X\r\n\r\nhello", ...last("", 304) },
];

export const goodAnswers = [...wellFormed, ...surplus];
