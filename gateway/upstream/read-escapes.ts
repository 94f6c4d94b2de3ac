/** A text without escapes and space, and where each of its characters stands in the source. */
export type UnescapedText = { source: string; text: string; starts: number[]; ends: number[] };

/** Reads escapes of JSON and of URLs and references of HTML, also of one another, in time that grows with the text only. */
export function readEscapes(source: string): UnescapedText {
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
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", sol: "/", bsol: "\\", plus: "+", equals: "=" },
  ...{ lowbar: "_", period: ".", colon: ":", comma: ",", semi: ";", ast: "*", commat: "@", num: "#" },
  ...{ dollar: "$", percnt: "%", excl: "!", hyphen: "-", dash: "-", verbar: "|", tilde: "~" },
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
