import type { SetupModel, Workload } from "../../../../gateway/setup/setup-input.ts";

/**
 * Selects the most expensive model for hard tasks, the cheapest for light tasks, and one in between for daily use.
 * Demo, unsuitable and unpriced models are a last resort. Null without models.
 */
export function chooseModels(connected: SetupModel[]): Record<Workload, SetupModel> | null {
  const real = whereAny(connected, ({ isDemo }) => !isDemo);
  const able = whereAny(real, canCode);
  const byPrice = whereAny(able, ({ inputPrice }) => inputPrice !== null).toSorted(
    (one, another) => priceOf(one) - priceOf(another) || one.slug.localeCompare(another.slug, "en"),
  );
  const light = byPrice.at(0);
  const hard = byPrice.at(-1);
  if (!light || !hard) return null;
  // Prices differ by factors, so the middle is the geometric mean.
  const middle = Math.sqrt(priceOf(light) * priceOf(hard));
  const distance = (model: SetupModel) => Math.abs(Math.log(priceOf(model) / middle));
  // The more expensive of two equally distant models wins.
  const daily = byPrice.reduce((best, model) => (distance(model) <= distance(best) ? model : best), light);
  return { light, daily, hard };
}

function whereAny(models: SetupModel[], fits: (model: SetupModel) => boolean): SetupModel[] {
  const fitting = models.filter(fits);
  return fitting.length > 0 ? fitting : models;
}

/** Unknown facts do not make a model unsuitable. */
function canCode({ canCallTools, contextWindow, outputPrice, slug }: SetupModel): boolean {
  const isForText = outputPrice !== 0 || !/embed|rerank|moderation/i.test(slug);
  return canCallTools !== false && (contextWindow ?? contextWindowLeast) >= contextWindowLeast && isForText;
}

const contextWindowLeast = 32_000;

/** The mean price per million tokens. Coding tools use about ten input tokens for each output token. */
function priceOf({ inputPrice, outputPrice }: SetupModel): number {
  const input = inputPrice ?? 0;
  return Math.max((10 * input + (outputPrice ?? 4 * input)) / 11, priceLeast);
}

/** Greater than 0, because the distance between prices is a logarithm. */
const priceLeast = 0.01;
