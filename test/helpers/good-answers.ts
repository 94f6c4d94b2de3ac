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

/** The usual body is "hello", and the usual status 200. */
type Row = [name: string, bytes: string, body?: string, status?: number];

/** After these responses, the gateway keeps the connection. */
const kept: Row[] = [
  ["a content-length", hello("Content-Length: 5\r\n")],
  ["no words after the status", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", "hi"],
  ["not even a space there", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "hi"],
  ["words in Latin-1", "HTTP/1.1 200 Grü\xdfe\r\nContent-Length: 2\r\n\r\nhi", "hi"],
  ["an empty body", hello("Content-Length: 0\r\n", ""), ""],
  ["a length with zeros before it", hello("Content-Length: 005\r\n")],
  ["no space after a colon", hello("content-length:5\r\n")],
  ["spaces and tabs around a value", hello("content-length: \t 5 \t \r\n")],
  ["an empty value", hello("x-empty:\r\ncontent-length: 5\r\n")],
  ["the same length twice", hello("content-length: 5\r\ncontent-length: 5\r\n")],
  ["the same length in a list", hello("content-length: 5, 5\r\n")],
  ["every character of a name", hello("!#$%&'*+-.^_`|~09aZ: x\r\ncontent-length: 5\r\n")],
  [
    "names of JavaScript's own",
    hello("__proto__: x\r\n__proto__: y\r\nconstructor: z\r\ncontent-length: 5\r\n"),
  ],
  ["bytes above ASCII in a value", hello("x: \xa0\xff\x80\r\ncontent-length: 5\r\n")],
  ["an error with a body", "HTTP/1.1 500 Oh no\r\ncontent-length: 4\r\n\r\nboom", "boom", 500],
  ["a status nobody knows", "HTTP/1.1 799 Odd\r\ncontent-length: 2\r\n\r\nhi", "hi", 799],
  ["a redirect", "HTTP/1.1 307 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nhi", "hi", 307],
  ["204, which has no body", "HTTP/1.1 204 No Content\r\n\r\n", "", 204],
  ["204 with a length of nothing", "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n", "", 204],
  ["304, which has no body", "HTTP/1.1 304 Not Modified\r\n\r\n", "", 304],
  ["205 with a length", "HTTP/1.1 205 Reset\r\ncontent-length: 0\r\n\r\n", "", 205],
  ["100 before it", `HTTP/1.1 100 Continue\r\n\r\n${hello("content-length: 5\r\n")}`],
  [
    "102 and 103 before it",
    `HTTP/1.1 102 X\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${hello("content-length: 5\r\n")}`,
  ],
  [
    "a length in a provisional head",
    `HTTP/1.1 103 X\r\ncontent-length: 3\r\n\r\n${hello("content-length: 5\r\n")}`,
  ],
  ["chunks", chunked("5\r\nhello\r\n0\r\n\r\n")],
  ["several chunks", chunked("1\r\nh\r\n3\r\nell\r\n1\r\no\r\n0\r\n\r\n")],
  ["no chunk but the last", chunked("0\r\n\r\n"), ""],
  ["CHUNKED", hello("TRANSFER-ENCODING: \tCHUNKED \r\n", "5\r\nhello\r\n0\r\n\r\n")],
  ["sizes in capitals and with zeros", chunked(`000A\r\n0123456789\r\n000\r\n\r\n`), "0123456789"],
  ["a chunk that looks like the end", chunked("7\r\n0\r\n\r\nab\r\n0\r\n\r\n"), "0\r\n\r\nab"],
  ["chunk extensions", chunked('5;a=b;c="d e"\r\nhello\r\n0;x\r\n\r\n')],
  ["trailers", chunked("5\r\nhello\r\n0\r\nx-sum: 1\r\ncontent-length: 3\r\n\r\n")],
  ["keep-alive", hello("content-length: 5\r\nconnection: keep-alive\r\nkeep-alive: timeout=5, max=10\r\n")],
  [
    "HTTP/1.0 that keeps the connection",
    "HTTP/1.0 200 OK\r\ncontent-length: 5\r\nconnection: Keep-Alive\r\n\r\nhello",
  ],
  ["as many fields as are taken", hello(`${"x: y\r\n".repeat(255)}content-length: 5\r\n`)],
  ["a head of 15 KB", hello(`${`x-long: ${"0123456789".repeat(10)}\r\n`.repeat(140)}content-length: 5\r\n`)],
];

/** After these responses, the gateway closes the connection. */
const last: Row[] = [
  ["204 that announces a body", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", "", 204],
  ["204 that is chunked", "HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n", "", 204],
  ["204 with a body", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello", "", 204],
  ["connection: close", hello("content-length: 5\r\nconnection: close\r\n")],
  ["close among other options", hello("content-length: 5\r\nconnection: keep-alive, X-Y ,\tClose\r\n")],
  ["close in a second header", hello("content-length: 5\r\nconnection: keep-alive\r\nconnection: close\r\n")],
  ["keep-alive for a second", hello("content-length: 5\r\nkeep-alive: timeout=1\r\n")],
  ["HTTP/1.0 with a length", "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello"],
  ["a byte too much", `${hello("content-length: 5\r\n")}!`],
  ["an empty line too much", `${hello("content-length: 5\r\n")}\r\n`],
  ["a second answer", hello("content-length: 5\r\n").repeat(2)],
  ["a second answer after the last chunk", chunked("5\r\nhello\r\n0\r\n\r\n").repeat(2)],
  ["a body that 304 cannot have", "HTTP/1.1 304 X\r\n\r\nhello", "", 304],
];

/** After these responses, the upstream closes the connection. */
const closed: Row[] = [
  ["no length and a close", hello("content-type: text/plain\r\n")],
  ["no length, no body and a close", hello("", ""), ""],
  ["HTTP/1.0 until the close", "HTTP/1.0 200 OK\r\n\r\nhello"],
  ["a close right after the end", hello("content-length: 5\r\n")],
];

function toAnswer([name, bytes, body = "hello", status = 200]: Row): HttpAnswer {
  return { name, bytes, result: { status, body } };
}

export const goodAnswers: HttpAnswer[] = [
  ...kept.map((row) => ({ ...toAnswer(row), isKept: true as const })),
  ...last.map(toAnswer),
  ...closed.map((row) => ({ ...toAnswer(row), closes: true as const })),
];
