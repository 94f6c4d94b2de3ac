/** Compares with the previous 24 hours: "+12% vs previous 24 h". Empty if a comparison means nothing. */
export function compare(now: number | null, before: number | null): string {
  if (now === null || before === null || before === 0) return "";
  const percent = Math.round((now / before - 1) * 100);
  if (percent === 0) return "no change vs previous 24 h";
  if (percent > 1_000) return ">10× vs previous 24 h";
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent)}% vs previous 24 h`;
}
