/** What kind of character a UTF-16 code unit is, as far as tokenizers care. */
export function kindOf(code: number): CharacterKind {
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

/** Characters of one kind in a row take `tokens`, and more where they are more than `freeCharacters`. */
export type CharacterKind = { tokens: number; freeCharacters: number; charactersPerToken: number };

export const latin: CharacterKind = { tokens: 1, freeCharacters: 6, charactersPerToken: 6 };
/** One space belongs to the word behind it, and many in a row are one token. */
export const space: CharacterKind = { tokens: 0, freeCharacters: 1, charactersPerToken: 50 };
const lineEnd: CharacterKind = { tokens: 0.8, freeCharacters: 2, charactersPerToken: 16 };
const digits: CharacterKind = { tokens: 1, freeCharacters: 3, charactersPerToken: 3 };
const sign: CharacterKind = { tokens: 0.95, freeCharacters: 2, charactersPerToken: 2.5 };
const greek: CharacterKind = { tokens: 1, freeCharacters: 2, charactersPerToken: 2.7 };
/** Cyrillic, Armenian, Hebrew. */
const european: CharacterKind = { tokens: 1, freeCharacters: 4, charactersPerToken: 5 };
const arabic: CharacterKind = { tokens: 1, freeCharacters: 3, charactersPerToken: 2.6 };
/** Scripts of India and South East Asia. */
const indic: CharacterKind = { tokens: 1, freeCharacters: 3, charactersPerToken: 3 };
const hangul: CharacterKind = { tokens: 1, freeCharacters: 1, charactersPerToken: 1.6 };
/** Han and Kana. */
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
