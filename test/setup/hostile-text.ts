import fc from "fast-check";

/** Without correct quoting, these texts run commands, end strings or are altered. The commands create `canary`. */
const pieces = [
  '"; touch "$HOME/canary"; "',
  "'; touch \"$HOME/canary\"; '",
  '$(touch "$HOME/canary")',
  '`touch "$HOME/canary"`',
  '\nEOF\ntouch "$HOME/canary"\n',
  '\nMODEL_GATEWAY\ntouch "$HOME/canary"\n',
  '" system("touch $HOME/canary") "',
  ...`$\`'";|<>*?()[]{}^~ `,
  "$HOME",
  "{{GATEWAY_API_KEY}}",
  "\\",
  "\\\\1",
  "&",
  "%s%n",
  "!!",
  "#",
  "//",
  "/*",
  "*/",
  ",}",
  " = ",
  " > ",
  "\r",
  "\t",
  "\u0000",
  "\u007f",
  "\u2028",
  "ü😀",
  "env",
];

export const hostileText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "grapheme", maxLength: 5 })), {
    maxLength: 4,
  })
  .map((parts) => parts.join(""));
