import fc from "fast-check";

/** Any code point. Replaces fast-check's unit "binary", whose list of characters takes a second to build. */
export const anyCharacter = fc.nat(0x10ffff).map(
  (code) => String.fromCodePoint(code),
  (text) => {
    const code = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== text) throw new Error("Not one character.");
    return code;
  },
);
