import type { SetupModel, Workload } from "./setup-input.ts";

/**
 * Sensible first choices among the models of a key: the dearest for hard tasks, the cheapest for light ones, and for daily use
 * the one whose price is nearest to the middle of the two. The demo, and models of which no budget knows what they cost, only
 * where there is nothing else. Null if there is no model at all.
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
  // Prices lie as far apart as ten to one: their middle is the geometric one.
  const middle = Math.sqrt(priceOf(light) * priceOf(hard));
  const distance = (model: SetupModel) => Math.abs(Math.log(priceOf(model) / middle));
  // Of two that are as far from it, the dearer.
  const daily = byPrice.reduce((best, model) => (distance(model) <= distance(best) ? model : best), light);
  return { light, daily, hard };
}

/** Those that fit, or all where none does. */
function whereAny(models: SetupModel[], fits: (model: SetupModel) => boolean): SetupModel[] {
  const fitting = models.filter(fits);
  return fitting.length > 0 ? fitting : models;
}

/** Of what answers in a terminal: it calls tools, has room for files, and makes text. */
function canCode({ canCallTools, contextWindow, outputPrice, slug }: SetupModel): boolean {
  const isForText = outputPrice !== 0 || !/embed|rerank|moderation/i.test(slug);
  return canCallTools !== false && (contextWindow ?? contextWindowLeast) >= contextWindowLeast && isForText;
}

const contextWindowLeast = 32_000;

/** What ten words in and one out cost, which is how coding tools ask. Where no price is known, all are alike. */
function priceOf({ inputPrice, outputPrice }: SetupModel): number {
  const input = inputPrice ?? 0;
  return Math.max((10 * input + (outputPrice ?? 4 * input)) / 11, priceLeast);
}

/** So that what is free can be compared. */
const priceLeast = 0.01;
