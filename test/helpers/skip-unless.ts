import test from "ava";

/** Reports a skipped test without the needed program, because ava fails for a file without tests. */
export function skipUnless(needed: unknown, what: string): void {
  const isMissing = needed === undefined || (Array.isArray(needed) && needed.length === 0);
  if (isMissing) test.skip(`these tests need ${what}, which \`npm test\` provides`, () => {});
}
