/**
 * The change since the previous period, as in "+12% vs previous 24 h". Empty if a value is unknown, or if the previous
 * value is 0.
 */
export function compare(now: number | null, before: number | null, period: string): string {
  if (now === null || before === null || before === 0) return "";
  const percent = Math.round((now / before - 1) * 100);
  if (percent === 0) return `no change vs previous ${period}`;
  if (percent > 1_000) return `>10× vs previous ${period}`;
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent)}% vs previous ${period}`;
}
