/**
 * Cuts the bytes into awkward pieces: several events in one, one event in several, and four-byte characters cut
 * after their first byte.
 */
export function cutUp(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  let round = 0;
  while (start < bytes.length) {
    const longest = bytes.subarray(start, start + (sizes[round++ % sizes.length] ?? 1));
    const inCharacter = longest.findIndex((byte) => byte >= 0xf0) + 1;
    const piece = inCharacter > 0 ? longest.subarray(0, inCharacter) : longest;
    pieces.push(piece);
    start += piece.length;
  }
  return pieces;
}

const sizes = [1, 700, 13, 2, 150, 1400, 3];
