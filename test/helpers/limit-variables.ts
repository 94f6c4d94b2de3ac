import { type Settings, variables } from "../../gateway/config/variables.ts";

/** The variables that are limits, with the limits' names and defaults. */
export const limitVariables = Object.entries(variables)
  .filter(([, { kind }]) => kind === "limit")
  .map(([variable, { schema, unit }]) => {
    const [first = "", ...others] = variable.toLowerCase().split("_");
    const name = first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
    return { variable, name: name as keyof Settings, value: schema.parse(undefined), unit };
  });
