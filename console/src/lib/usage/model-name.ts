/** Shown for requests without a stored model name, such as text or a key. */
const noModel = "none recorded";

/** The model's label of a record or a group. */
export function nameModel(model: string | null): string {
  return model || noModel;
}

/** The URL's value for such requests. No model name has parentheses. */
export const noModelChoice = "(none)";

/** The URL's value for keys without an owner. */
export const noOwnerChoice = "(none)";

/** The URL's value for clients that are no coding tool. */
export const otherClientsChoice = "(other)";
