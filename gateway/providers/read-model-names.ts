import { isObject } from "../wire/json.ts";

/**
 * The names of the models in `list[member]`, or null when that is no array.
 * @param nameKey the member of a model that has its name
 */
export function readModelNames(
  list: unknown,
  member: string,
  nameKey: string,
  isUsable: (model: Record<string, unknown>) => boolean = () => true,
): string[] | null {
  const models = isObject(list) ? list[member] : null;
  if (!Array.isArray(models)) return null;
  return models.flatMap((model: unknown) => {
    const name = isObject(model) && isUsable(model) ? model[nameKey] : null;
    return typeof name === "string" ? name : [];
  });
}
