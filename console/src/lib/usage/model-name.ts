/** What is said in place of a model's name where a request named none, or none that may be kept: it could be a text or a key. */
const noModel = "none recorded";

/** A record's model, or a group's. */
export function nameModel(model: string | null): string {
  return model || noModel;
}

/** The choice of such requests, in the address. No name of a model has parentheses. */
export const noModelChoice = "(none)";
