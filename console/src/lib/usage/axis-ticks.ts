/** Returns at most five round values, from 0 to at least `largest`. */
export function axisTicks(largest: number, { isWhole }: { isWhole: boolean }): number[] {
  if (largest <= 0) return [0, 1];
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const step = isWhole ? Math.max(1, round) : round;
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, index) => index * step);
}
