/**
 * Removes pieces of the secret that have 8 characters or more, even if escaped or encoded. Keeps plain words of
 * the secret. A shorter secret is removed as a whole word. Truncates the text to `lengthMax`.
 */
export function hideSecret(text: string, secret: string): string {
  const read = text.slice(0, lengthMax);
  const unescaped = readEscapes(read);
  const hidden = findSecret(unescaped, secret, pieceLength).filter(
    (range) => !isWord(unescaped, range, secret),
  );
  let shown = "";
  let from = 0;
  for (const { start, end } of hidden) {
    const at = unescaped.starts[start] ?? 0;
    if (at >= from) shown += `${read.slice(from, at)}[key removed]`;
    from = Math.max(from, unescaped.ends[end - 1] ?? 0);
  }
  return shown + read.slice(from);
}

/** Whether `length` characters in a row are the secret's, even if encoded. True if the text is too long. */
export function holdsSecret(text: string, secret: string, length: number): boolean {
  return text.length > lengthMax || findSecret(readEscapes(text), secret, length).length > 0;
}

/** A range of positions in the unescaped text. */
type Range = { start: number; end: number };

/** Returns the ranges of pieces of the secret, in order and without overlaps. */
function findSecret({ text, source, starts, ends }: UnescapedText, secret: string, length: number): Range[] {
  const whole = readEscapes(secret).text.toLowerCase();
  if (whole === "") return [];
  const pieces = new Set<string>();
  const size = Math.min(length, whole.length);
  for (let at = 0; at + size <= whole.length; at++) pieces.add(whole.slice(at, at + size));

  const plain = findPieces(text, pieces, size).filter(
    ({ start, end }) =>
      whole.length >= length || standsAlone(source, starts[start] ?? 0, ends[end - 1] ?? source.length),
  );
  // Pieces of one or two bytes occur in decoded text by chance.
  const encoded = size < 3 ? [] : encodings.flatMap((encoding) => findEncoded(text, pieces, size, encoding));
  return merge([...plain, ...encoded]);
}

function findPieces(text: string, pieces: ReadonlySet<string>, size: number): Range[] {
  // Only İ becomes two characters in lower case, which would shift positions.
  const lowerCase = text.replaceAll("İ", "i").toLowerCase();
  const found: Range[] = [];
  for (let at = 0; at + size <= lowerCase.length; at++) {
    if (pieces.has(lowerCase.slice(at, at + size))) found.push({ start: at, end: at + size });
  }
  return found;
}

type Encoding = {
  name: "base64" | "hex";
  alphabet: RegExp;
  /** The number of characters that encode a group of `bytes` bytes. */
  characters: number;
  bytes: number;
};

const encodings: Encoding[] = [
  // Node decodes both base64 alphabets.
  { name: "base64", alphabet: /[a-z0-9+/_-]+/gi, characters: 4, bytes: 3 },
  { name: "hex", alphabet: /[0-9a-f]+/gi, characters: 2, bytes: 1 },
];

function findEncoded(
  text: string,
  pieces: ReadonlySet<string>,
  size: number,
  { name, alphabet, characters, bytes }: Encoding,
): Range[] {
  const found: Range[] = [];
  for (const { 0: run, index } of text.matchAll(alphabet)) {
    if (run.length * bytes < size * characters) continue;
    // Both the secret and its encoding may start at any offset.
    for (let skipped = 0; skipped < characters; skipped++) {
      const decoded = Buffer.from(run.slice(skipped), name).toString("latin1");
      for (const { start, end } of findPieces(decoded, pieces, size)) {
        found.push({
          start: index + skipped + Math.floor((start * characters) / bytes),
          end: Math.min(index + skipped + Math.ceil((end * characters) / bytes), text.length),
        });
      }
    }
  }
  return found;
}

function merge(ranges: Range[]): Range[] {
  const merged: Range[] = [];
  for (const range of ranges.toSorted((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (last && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else merged.push({ ...range });
  }
  return merged;
}

/** Whether the piece is a plain lower-case word of the secret, such as `upstream` of `upstream-Zk3…`. */
function isWord(
  { text, source, starts, ends }: UnescapedText,
  { start, end }: Range,
  secret: string,
): boolean {
  const word = text.slice(start, end).toLowerCase();
  if (!/^[a-z]+$/.test(word) || !standsAlone(source, starts[start] ?? 0, ends[end - 1] ?? source.length)) {
    return false;
  }
  const words = secret.split(/[^A-Za-z0-9]+/);
  return words.length > 1 && words.includes(word);
}

/** Replacing `test` within `latest` would reveal that the secret contains `test`. */
function standsAlone(text: string, start: number, end: number): boolean {
  return !letterOrDigit.test(text.charAt(start - 1)) && !letterOrDigit.test(text.charAt(end));
}

const letterOrDigit = /[\p{L}\p{N}]/u;
const pieceLength = 8;
/** Twice the maximum length of an error message for clients. */
const lengthMax = 8_192;

/** Text without escapes and whitespace, and the source position of each character. */
type UnescapedText = { source: string; text: string; starts: number[]; ends: number[] };

/** Decodes JSON, URL and HTML escapes, also nested ones, in linear time. */
function readEscapes(source: string): UnescapedText {
  const places = Array.from({ length: source.length }, (_, index) => index);
  let read: UnescapedText = { source, text: source, starts: places, ends: places.map((place) => place + 1) };
  for (let level = 0; level < levelsMax; level++) {
    const next = readOnce(read);
    if (next.text.length === read.text.length) break;
    read = next;
  }
  return read;
}

function readOnce({ source, text, starts, ends }: UnescapedText): UnescapedText {
  const next: UnescapedText = { source, text: "", starts: [], ends: [] };
  let from = 0;
  const copyTo = (end: number) => {
    next.text += text.slice(from, end);
    for (; from < end; from++) {
      next.starts.push(starts[from] ?? 0);
      next.ends.push(ends[from] ?? 0);
    }
  };
  for (const match of text.matchAll(escapeForm)) {
    copyTo(match.index);
    from = match.index + match[0].length;
    const characters = readEscape(match);
    for (let index = 0; index < characters.length; index++) {
      next.starts.push(starts[match.index] ?? 0);
      next.ends.push(ends[from - 1] ?? 0);
    }
    next.text += characters;
  }
  copyTo(text.length);
  return next;
}

/** Omits lone backslashes, and whitespace that may wrap an encoded text. */
function readEscape({ groups = {} }: RegExpExecArray): string {
  const { hex, digits, name } = groups;
  if (name !== undefined) return names[name.toLowerCase()] ?? "";
  if (hex === undefined && digits === undefined) return "";
  const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

/** Names from https://html.spec.whatwg.org/multipage/named-characters.html, for characters of keys. */
const names: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  sol: "/",
  bsol: "\\",
  plus: "+",
  equals: "=",
  lowbar: "_",
  period: ".",
  colon: ":",
  comma: ",",
  semi: ";",
  ast: "*",
  commat: "@",
  num: "#",
  dollar: "$",
  percnt: "%",
  excl: "!",
  hyphen: "-",
  dash: "-",
  verbar: "|",
  tilde: "~",
};

/** Repeated escapes are decoded in one pass, so that many backslashes or `%25` take linear time. */
const escapeForm = new RegExp(
  [
    String.raw`\\+(?:u(?<hex>[0-9a-f]{4})|u\{0*(?<hex>[0-9a-f]{1,6})\}|x(?<hex>[0-9a-f]{2})|[nrt])?`,
    String.raw`%(?:25)*(?<hex>[0-9a-f]{2})`,
    String.raw`&(?:amp;)*(?:#0*(?<digits>\d{1,7})|#x0*(?<hex>[0-9a-f]{1,6})|(?<name>${Object.keys(names).join("|")}));?`,
    String.raw`[\s\u00ad\u200b-\u200f\u2060\ufeff]+`,
  ].join("|"),
  "gi",
);

/** For example, an HTML entity in a URL in JSON has three levels. */
const levelsMax = 4;
