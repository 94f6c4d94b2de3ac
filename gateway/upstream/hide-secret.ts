/**
 * An upstream's text without our credential: every piece of 8 characters or more is replaced, also where it is escaped,
 * in base64, in hexadecimals or in another case. A shorter secret is replaced as a whole, where it stands by itself.
 * Only the beginning of a long text is returned, because an upstream chooses how long it is.
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

/** Whether so many characters in a row of the secret are in the text, read in the same ways. */
export function holdsSecret(text: string, secret: string, length: number): boolean {
  return text.length > lengthMax || findSecret(readEscapes(text), secret, length).length > 0;
}

/** In the unescaped text. */
type Range = { start: number; end: number };

/** Where pieces of the secret stand, in order and without overlaps. */
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
  // Two bytes come up in anything that is decoded.
  const encoded = size < 3 ? [] : encodings.flatMap((encoding) => findEncoded(text, pieces, size, encoding));
  return merge([...plain, ...encoded]);
}

function findPieces(text: string, pieces: ReadonlySet<string>, size: number): Range[] {
  // The only letter that becomes two in lower case, so that positions stay.
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
  /** Characters and bytes of one group. */
  characters: number;
  bytes: number;
};

const encodings: Encoding[] = [
  // Node reads both alphabets of base64.
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
    // The secret may begin in the middle of what was encoded, and that in the middle of the run.
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

/** Whether it is only a word in small letters between the secret's signs: `upstream` shows nothing of `upstream-Zk3…`. */
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

/** To replace `test` within `latest` would tell the secret. */
function standsAlone(text: string, start: number, end: number): boolean {
  return !letterOrDigit.test(text.charAt(start - 1)) && !letterOrDigit.test(text.charAt(end));
}

const letterOrDigit = /[\p{L}\p{N}]/u;
const pieceLength = 8;
/** Twice what is shown of a message. */
const lengthMax = 8_192;

/** A text without escapes and space, and where each of its characters stands in the source. */
type UnescapedText = { source: string; text: string; starts: number[]; ends: number[] };

/** Reads escapes of JSON and of URLs and references of HTML, also of one another, in time that grows with the text only. */
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

/** Space, and a backslash by itself, is nothing: line breaks and spaces may stand within an encoded text. */
function readEscape({ groups = {} }: RegExpExecArray): string {
  const { hex, digits, name } = groups;
  if (name !== undefined) return names[name.toLowerCase()] ?? "";
  if (hex === undefined && digits === undefined) return "";
  const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

/** https://html.spec.whatwg.org/multipage/named-characters.html, as far as they can be in a key. */
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

/** What is escaped several times is read at once, so that many backslashes or `%25` are no work for every level. */
const escapeForm = new RegExp(
  [
    String.raw`\\+(?:u(?<hex>[0-9a-f]{4})|u\{0*(?<hex>[0-9a-f]{1,6})\}|x(?<hex>[0-9a-f]{2})|[nrt])?`,
    String.raw`%(?:25)*(?<hex>[0-9a-f]{2})`,
    String.raw`&(?:amp;)*(?:#0*(?<digits>\d{1,7})|#x0*(?<hex>[0-9a-f]{1,6})|(?<name>${Object.keys(names).join("|")}));?`,
    String.raw`[\s\u00ad\u200b-\u200f\u2060\ufeff]+`,
  ].join("|"),
  "gi",
);

/** Such as a reference of HTML in a URL in JSON. */
const levelsMax = 4;
