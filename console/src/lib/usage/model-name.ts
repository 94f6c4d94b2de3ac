/** The label of requests without a stored model name. Names that may be prose or secrets are not stored. */
const noModel = "none recorded";

export function nameModel(model: string | null): string {
  return model || noModel;
}

/** The value in the URL that selects requests without a model name. Model names have no parentheses. */
export const noModelChoice = "(none)";

/** The value in the URL that selects keys without an owner. */
export const noOwnerChoice = "(none)";

/** The value in the URL that selects requests that no team paid. */
export const noTeamChoice = "(none)";

/** The value in the URL that selects clients that are not coding tools. */
export const otherClientsChoice = "(other)";
