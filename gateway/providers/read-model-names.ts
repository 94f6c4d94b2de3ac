import { isObject } from "../wire/json.ts";

/**
 * Returns the names of the models in `list[member]`. Null if that is not an array.
 * @param nameKey the member with a model's name
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
