/** Returns the key's 8-character pieces that occur in a text or its decoded forms. Ignores case. */
export function findKeyPieces(text: string, key: string): string[] {
  const readings = new Set([text]);
  for (let round = 0; round < 4; round++) {
    for (const reading of readings) for (const decode of unescapings) readings.add(decode(reading));
    if (readings.size > 60) break;
  }
  const decoded = [...readings].flatMap((reading) => [reading, ...decodings(reading)]);
  const lowerCase = [...new Set(decoded)].map((each) => each.toLowerCase());
  const pieces = Array.from({ length: key.length - 7 }, (_, at) => key.slice(at, at + 8).toLowerCase());
  return pieces.filter((piece) => lowerCase.some((each) => each.includes(piece)));
}

const character = (digits: string, radix = 16) => String.fromCharCode(Number.parseInt(digits, radix));

const unescapings: ((text: string) => string)[] = [
  (text) => text.replaceAll(/\\u([\da-f]{4})/gi, (_, digits: string) => character(digits)),
  (text) =>
    text.replaceAll(/\\(?:x([\da-f]{2})|u\{([\da-f]+)\})/gi, (_, x?: string, u?: string) =>
      character(x ?? u ?? ""),
    ),
  (text) => text.replaceAll(/\\(?=[^ux])/g, ""),
  (text) => text.replaceAll(/%([\da-f]{2})/gi, (_, digits: string) => character(digits)),
  (text) => text.replaceAll(/&#x([\da-f]+);?/gi, (_, digits: string) => character(digits)),
  (text) => text.replaceAll(/&#(\d+);?/g, (_, digits: string) => character(digits, 10)),
  (text) =>
    text
      .replaceAll("&amp;", "&")
      .replaceAll("&sol;", "/")
      .replaceAll("&plus;", "+")
      .replaceAll("&equals;", "="),
  (text) => text.replaceAll(/[\s\u200b]|\\[rn]/g, ""),
];

function decodings(text: string): string[] {
  const base64 = text.match(/[\w+/-]{11,}/g) ?? [];
  const hex = text.match(/[\da-f]{16,}/gi) ?? [];
  return [
    ...base64.flatMap((run) =>
      [0, 1, 2, 3].map((at) => Buffer.from(run.slice(at), "base64").toString("latin1")),
    ),
    ...hex.flatMap((run) => [0, 1].map((at) => Buffer.from(run.slice(at), "hex").toString("latin1"))),
  ];
}
