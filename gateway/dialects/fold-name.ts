/**
 * A name as decoders see it that match members without regard to case: Go's, whose simple folding takes U+017F for s and
 * U+212A for k (https://github.com/golang/go/issues/14750), and Java's and .NET's, of which some take U+0131 for i.
 * Dashes and underscores count.
 */
export function foldName(name: string): string {
  if (!oddCharacter.test(name)) return name;
  // `toLowerCase` makes k of U+212A.
  return name.replaceAll("ſ", "s").replaceAll(/[ıİ]/g, "i").toLowerCase();
}

const oddCharacter = /[^a-z_]/;
