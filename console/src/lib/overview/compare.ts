/** How a number stands to that of the day before: "12% more than the day before"; empty where that says nothing. */
export function compare(now: number | null, before: number | null): string {
  if (now === null || before === null || before === 0) return "";
  const percent = Math.round((now / before - 1) * 100);
  if (percent === 0) return "as the day before";
  if (percent > 1_000) return "far more than the day before";
  return `${Math.abs(percent)}% ${percent > 0 ? "more" : "less"} than the day before`;
}
