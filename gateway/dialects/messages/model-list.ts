import { invalidType, invalidValue } from "../../wire/parameter-errors.ts";

/**
 * Formats one page of models in Anthropic's format. Throws `invalid_type` or `invalid_value` for an invalid
 * query.
 * @param models all models, in the order of the list
 */
export function formatModelList(models: readonly ListedModel[], query: ModelListQuery): ModelList {
  const limit = readLimit(query["limit"]);
  const before = findIndexOf(models, query["before_id"], "before_id");
  const after = findIndexOf(models, query["after_id"], "after_id");
  if (before !== null && after !== null) {
    throw invalidValue("before_id", "must not be combined with 'after_id'");
  }
  const end = before ?? Math.min(models.length, (after ?? -1) + 1 + limit);
  const start = before === null ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const data = models.slice(start, end).map(formatModel);
  return {
    data,
    has_more: before === null ? end < models.length : start > 0,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

/** https://platform.claude.com/docs/en/api/models/retrieve */
export function formatModel({ slug, createdAt }: ListedModel): ModelInfo {
  return { type: "model", id: slug, display_name: slug, created_at: createdAt.toISOString() };
}

export type ListedModel = { slug: string; createdAt: Date };

export type ModelListQuery = Readonly<Record<string, unknown>>;

/** https://platform.claude.com/docs/en/api/models/list */
export type ModelList = {
  data: ModelInfo[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
};

export type ModelInfo = { type: "model"; id: string; display_name: string; created_at: string };

function readLimit(value: unknown): number {
  if (value === undefined) return limitDefault;
  if (typeof value !== "string" || !/^\d{1,9}$/.test(value)) throw invalidType("limit", "an integer", value);
  const limit = Number(value);
  if (limit < 1 || limit > limitMax) throw invalidValue("limit", `must be between 1 and ${limitMax}`, limit);
  return limit;
}

function findIndexOf(models: readonly ListedModel[], id: unknown, param: string): number | null {
  if (id === undefined) return null;
  if (typeof id !== "string") throw invalidType(param, "a string", id);
  const index = models.findIndex(({ slug }) => slug === id);
  if (index === -1) throw invalidValue(param, "must be the ID of a model in the list", id);
  return index;
}

const limitDefault = 20;
const limitMax = 1_000;
