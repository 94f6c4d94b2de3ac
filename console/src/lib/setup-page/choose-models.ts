import type { Dialect, SetupModel, Workload } from "../../../../gateway/setup/setup-input.ts";

/**
 * Selects the largest model for hard tasks, the smallest for light ones, one in between for daily use. The tool's
 * API comes first, then the newest version, then a family's own order, then the price. Null without models.
 */
export function chooseModels(
  connected: SetupModel[],
  dialect: Dialect | null = null,
): Record<Workload, SetupModel> | null {
  const real = whereAny(connected, ({ isDemo }) => !isDemo);
  const able = whereAny(real, canCode);
  // Every upstream's models suit a chat tool equally well.
  const native = whereAny(
    able,
    ({ dialects }) => dialect === null || dialect === "chat" || dialects.includes(dialect),
  );
  const priced = whereAny(native, ({ inputPrice }) => inputPrice !== null);
  const ordered = inFamilyOrder(newestVersions(priced));
  const light = ordered.at(0);
  const hard = ordered.at(-1);
  if (!light || !hard) return null;
  const isBetween = (model: SetupModel) =>
    familyOf(light) === familyOf(hard) &&
    familyOf(model) === familyOf(light) &&
    sizeOf(model) > sizeOf(light) &&
    sizeOf(model) < sizeOf(hard);
  // Prices differ by factors, so the middle is the geometric mean.
  const middle = Math.sqrt(priceOf(light) * priceOf(hard));
  const distance = (model: SetupModel) => Math.abs(Math.log(priceOf(model) / middle));
  // The larger of two equally distant models wins.
  const daily = whereAny(ordered, isBetween).reduce((best, model) =>
    distance(model) <= distance(best) ? model : best,
  );
  return { light, daily, hard };
}

/** Keeps the newest of the models whose names differ only in their version, such as Claude Haiku 3.5 and 4.5. */
function newestVersions(models: SetupModel[]): SetupModel[] {
  const named = models.map((model) => ({ model, ...readName(model) }));
  const newest = new Map<string, number[]>();
  for (const { line, version } of named)
    if (compareVersions(version, newest.get(line) ?? []) > 0) newest.set(line, version);
  return named
    .filter(({ line, version }) => compareVersions(version, newest.get(line) ?? []) >= 0)
    .map(({ model }) => model);
}

/** A number with a letter is a parameter count, such as `70b`, but `4o` is a version. A long number is a date. */
function readName({ slug }: SetupModel): { line: string; version: number[] } {
  const parts = nameOf(slug).match(/\d+[a-z]*|[a-z]+/g) ?? [];
  const words = parts.filter((part) => !/^\d+o?$/.test(part) && part !== "latest" && part !== "preview");
  const numbers = parts.filter((part) => /^\d{1,2}o?$/.test(part)).map(Number.parseFloat);
  return { line: words.toSorted().join(" "), version: numbers };
}

function compareVersions(one: number[], another: number[]): number {
  const length = Math.max(one.length, another.length);
  for (let index = 0; index < length; index++) {
    const difference = (one[index] ?? 0) - (another[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Sorts by price, then lets each family's models exchange their positions until they follow their size. */
function inFamilyOrder(models: SetupModel[]): SetupModel[] {
  const byPrice = models.toSorted(
    (one, another) => priceOf(one) - priceOf(another) || (one.slug < another.slug ? -1 : 1),
  );
  const families = Map.groupBy(byPrice, familyOf);
  // The sort is stable, so models of one size stay sorted by price.
  for (const family of families.values()) family.sort((one, another) => sizeOf(one) - sizeOf(another));
  return byPrice.flatMap((model) => families.get(familyOf(model))?.shift() ?? []);
}

/** The vendor's name in a model's name, such as `claude`, `gpt` or `gemini`. */
function familyOf({ slug }: SetupModel): string {
  const name = nameOf(slug);
  const [known] =
    /claude|gpt|gemini|grok|qwen|llama|deepseek|glm|kimi|nova|command|mi[ns]i?stral|codestral/.exec(name) ??
    [];
  return (known ?? /[a-z]+/.exec(name)?.[0] ?? "").replace(/^.*stral$/, "mistral");
}

/** The vendors' words for sizes, from small to large. Names without such a word are in the middle. */
function sizeOf({ slug }: SetupModel): number {
  const words = nameOf(slug).split(/[^a-z]+/);
  const size = sizes.findIndex((each) => each.some((word) => words.includes(word)));
  return size === -1 ? baseSize : size;
}

const sizes = [
  ["nano", "lite", "micro", "tiny", "ministral"],
  ["haiku", "mini", "flash", "small", "fast", "turbo", "air", "instant"],
  ["sonnet", "medium", "plus"],
  ["opus", "pro", "large", "max", "ultra", "premier", "big"],
];
const baseSize = 2;

function nameOf(slug: string): string {
  return slug.slice(slug.lastIndexOf("/") + 1).toLowerCase();
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
