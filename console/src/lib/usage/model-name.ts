/** Shown for requests without a stored model name, such as text or a key. */
const noModel = "none recorded";

/** The label of a record's or group's model. */
export function nameModel(model: string | null): string {
  return model || noModel;
}

/** Selects such requests in the URL. Model names have no parentheses. */
export const noModelChoice = "(none)";

/** Selects keys without an owner in the URL. */
export const noOwnerChoice = "(none)";

/** Selects clients that are not coding tools in the URL. */
export const otherClientsChoice = "(other)";
