/**
 * The weights approximate OpenAI's o200k encoding, with an error of about 15 % in most languages and code. The
 * real tokenizer needs 70 MB and 200 ms to load.
 */
export class TokenMeter {
  /** The count without the last run of characters. */
  #tokens = 0;
  #kind = space;
  #length = 0;
  #isLower = false;

  get tokens(): number {
    return Math.round(this.#tokens + tokensOf(this.#kind, this.#length));
  }

  /** Samples a very long text, because counting each of its characters would delay other requests. */
  add(text: string): void {
    if (text.length <= countedCharactersMax) return this.#addRange(text, 0, text.length);
    const before = this.#tokens;
    const sampleLength = countedCharactersMax / samples;
    for (let sample = 0; sample < samples; sample++) {
      const from = Math.floor((text.length - sampleLength) * (sample / (samples - 1)));
      this.#addRange(text, from, from + sampleLength);
    }
    this.#tokens = before + (this.#tokens - before) * (text.length / countedCharactersMax);
  }

  #addRange(text: string, from: number, to: number): void {
    for (let at = from; at < to; at++) this.#push(text.charCodeAt(at));
  }

  /**
   * Counts the inside of a JSON string.
   * @param text Latin-1 text of UTF-8 bytes
   * @param at the position after the opening quote
   * @returns the position of the closing quote, or the end of the text
   */
  addJson(text: string, at: number): number {
    for (at = this.#addAscii(text, at); at < text.length; at = this.#addAscii(text, at + 1)) {
      const byte = text.charCodeAt(at);
      if (byte === quote) return at;
      if (byte >= 0xf0) this.#pushRare();
      else if (byte >= 0xc0) this.#push(codeOf(text, at, byte));
      else if (byte === backslash) at += this.#pushEscaped(text, at + 1);
    }
    return text.length;
  }

  /** Counts ASCII up to a quote or a backslash. Most text is ASCII, and local variables are the fastest. */
  #addAscii(text: string, at: number): number {
    let kind = this.#kind;
    let length = this.#length;
    let isLower = this.#isLower;
    for (; at < text.length; at++) {
      const byte = text.charCodeAt(at);
      if (byte >= 0x80 || byte === quote || byte === backslash) break;
      const nextKind = ascii[byte] ?? sign;
      const startsWord = isLower && byte >= 0x41 && byte <= 0x5a;
      isLower = byte >= 0x61 && byte <= 0x7a;
      if (nextKind === kind && !startsWord) length++;
      else {
        this.#tokens += tokensOf(kind, length);
        kind = nextKind;
        length = 1;
      }
    }
    this.#kind = kind;
    this.#length = length;
    this.#isLower = isLower;
    return at;
  }

  /** Counts a surrogate pair, usually an emoji. */
  #pushRare(): void {
    this.#push(0xd83d);
    this.#push(0xde00);
  }

  /** Returns the escape's length without the backslash. */
  #pushEscaped(text: string, at: number): number {
    const byte = text.charCodeAt(at);
    if (byte === letterU) {
      this.#push(Number.parseInt(text.slice(at + 1, at + 5), 16) || 0);
      return 5;
    }
    this.#push(escapes[text.charAt(at)] ?? byte);
    return 1;
  }

  #push(code: number): void {
    const kind = kindOf(code);
    const wasLower = this.#isLower;
    this.#isLower = code >= 0x61 && code <= 0x7a;
    if (kind === latin && code >= 0xc0) this.#tokens += tokensOfAccent(code);
    // Names such as `timeToFirstToken` count as several words.
    const isNewWord = kind !== this.#kind || (wasLower && kind === latin && code <= 0x5a);
    if (!isNewWord) {
      this.#length++;
      return;
    }
    this.#tokens += tokensOf(this.#kind, this.#length);
    this.#kind = kind;
    this.#length = 1;
  }
}

function tokensOf({ tokens, freeCharacters, charactersPerToken }: CharacterKind, length: number): number {
  if (length === 0) return 0;
  return tokens + (length > freeCharacters ? (length - freeCharacters) / charactersPerToken : 0);
}

/** Words with non-English letters have more tokens, especially in central European languages. */
function tokensOfAccent(code: number): number {
  return code >= 0x100 && code < 0x180 ? 1 : 0.25;
}

/** Returns the code unit of a two- or three-byte UTF-8 character. */
function codeOf(text: string, at: number, lead: number): number {
  const second = text.charCodeAt(at + 1) & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  return ((lead & 0x0f) << 12) | (second << 6) | (text.charCodeAt(at + 2) & 0x3f);
}

const countedCharactersMax = 256 * 1024;
const samples = 16;

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const escapes: Record<string, number> = { n: 0x0a, r: 0x0d, t: 0x09, b: 0x08, f: 0x0c };

function kindOf(code: number): CharacterKind {
  if (code < 0x80) return ascii[code] ?? sign;
  if (code < 0xc0) return sign;
  if (code < 0x250) return latin;
  if (code < 0x370) return sign;
  if (code < 0x400) return greek;
  if (code < 0x600) return european;
  if (code < 0x780) return arabic;
  if (code < 0x1100) return indic;
  if (code < 0x1e00) return european;
  if (code < 0x1f00) return latin;
  if (code < 0x2000) return greek;
  if (code < 0x2e80) return sign;
  if (code >= 0xac00 && code < 0xd800) return hangul;
  if (code >= 0xd800 && code < 0xe000) return surrogate;
  return eastAsian;
}

/** A run of one kind costs `tokens`, and more after `freeCharacters`. */
type CharacterKind = { tokens: number; freeCharacters: number; charactersPerToken: number };

const latin: CharacterKind = { tokens: 1, freeCharacters: 6, charactersPerToken: 6 };
/** One space belongs to the next word. Further spaces cost little. */
const space: CharacterKind = { tokens: 0, freeCharacters: 1, charactersPerToken: 50 };
const lineEnd: CharacterKind = { tokens: 0.8, freeCharacters: 2, charactersPerToken: 16 };
const digits: CharacterKind = { tokens: 1, freeCharacters: 3, charactersPerToken: 3 };
const sign: CharacterKind = { tokens: 0.95, freeCharacters: 2, charactersPerToken: 2.5 };
const greek: CharacterKind = { tokens: 1, freeCharacters: 2, charactersPerToken: 2.7 };
/** Mainly Cyrillic, Armenian and Hebrew. */
const european: CharacterKind = { tokens: 1, freeCharacters: 4, charactersPerToken: 5 };
const arabic: CharacterKind = { tokens: 1, freeCharacters: 3, charactersPerToken: 2.6 };
/** Mainly the scripts of India and South East Asia. */
const indic: CharacterKind = { tokens: 1, freeCharacters: 3, charactersPerToken: 3 };
const hangul: CharacterKind = { tokens: 1, freeCharacters: 1, charactersPerToken: 1.6 };
/** Mainly Han and kana. */
const eastAsian: CharacterKind = { tokens: 0.8, freeCharacters: 1, charactersPerToken: 1.25 };
/** Half of an emoji or of a rare character. */
const surrogate: CharacterKind = { tokens: 1, freeCharacters: 1, charactersPerToken: 1 };

const ascii: readonly CharacterKind[] = Array.from({ length: 0x80 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/i.test(character)) return latin;
  if (/\d/.test(character)) return digits;
  if (/[\r\n]/.test(character)) return lineEnd;
  return /\s/.test(character) ? space : sign;
});

/**
 * Estimates output tokens without parsing the JSON. Events of a stream are similar, so the search for text
 * starts at the offset of the last event's text.
 */
export class OutputMeter {
  readonly #meter = new TokenMeter();
  readonly #names: RegExp;
  /** The last matched name, up to the text's opening quote. `#distance` is the offset of the name. */
  #name = "";
  #distance = 0;

  /** @param names a global pattern that ends with the text's opening quote */
  constructor(names: RegExp) {
    this.#names = names;
  }

  get tokens(): number {
    return this.#meter.tokens;
  }

  /** @param text Latin-1 text of UTF-8 bytes, with a JSON object from `start` to `end` */
  read(text: string, start: number, end: number): void {
    const nameStart = start + this.#distance;
    const nameEnd = nameStart + this.#name.length;
    if (this.#name !== "" && text.slice(nameStart, nameEnd) === this.#name) {
      this.#meter.addJson(text, nameEnd);
      return;
    }
    const event = text.slice(start, end);
    this.#name = "";
    let count = 0;
    this.#names.lastIndex = 0;
    for (let found = this.#names.exec(event); found; found = this.#names.exec(event)) {
      // After several texts, no name is kept, because the next event often has several texts too.
      this.#name = count++ === 0 ? found[0] : "";
      this.#distance = found.index;
      this.#names.lastIndex = this.#meter.addJson(event, found.index + found[0].length);
    }
  }
}

/** Members with output text in whole answers of every dialect. */
export const answerNames = () =>
  /"(?:content|reasoning_content|reasoning|refusal|arguments|text|thinking)"\s*:\s*"/g;
