import type * as z from "zod";

type Issue = z.core.$ZodRawIssue;

/** The error message for an input whose schema has no message of its own. */
export function explainIssue(issue: Issue): string {
  const path = issue.path?.join(".") ?? "";
  const field = path === "" ? "The input" : `The field '${path}'`;
  switch (issue.code) {
    case "invalid_type":
      return `${field} ${isWhat(issue.input)}. Send ${typeNames[issue.expected] ?? "another value"}.`;
    case "invalid_value":
      return `${field} ${isWhat(issue.input, "quoted")}. Use ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}.`;
    case "too_big":
      return `${field} ${hasSize(issue.input)}. Use at most ${issue.maximum}.`;
    case "too_small":
      return `${field} ${hasSize(issue.input)}. Use at least ${issue.minimum}.`;
    case "unrecognized_keys":
      return `${field} contains an unknown field: '${issue.keys[0]?.slice(0, shownLengthMax)}'. Remove the field.`;
    case "invalid_union":
      return closestIssue(issue.errors)?.message ?? `${field} has an invalid structure. Check its fields.`;
    default:
      return `${field} is invalid. Check its format.`;
  }
}

const shownLengthMax = 60;

const typeNames: Record<string, string> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  string: "a string",
};

/** @param texts `quoted` for a field with a fixed list of values, whose input is unlikely to be a secret */
function isWhat(input: unknown, texts: "hidden" | "quoted" = "hidden"): string {
  if (input === undefined) return "is missing";
  if (typeof input === "string")
    return texts === "quoted" ? `is "${input.slice(0, shownLengthMax)}"` : "is a string";
  if (Array.isArray(input)) return "is a list";
  return typeof input === "object" && input !== null ? "is an object" : `is ${String(input)}`;
}

function hasSize(input: unknown): string {
  if (typeof input === "string") return `has ${input.length} characters`;
  return Array.isArray(input) ? `has ${input.length} entries` : `is ${String(input)}`;
}

/** The first issue of the union member with the fewest issues. */
function closestIssue(forms: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue | undefined {
  return forms.toSorted((a, b) => a.length - b.length)[0]?.[0];
}
