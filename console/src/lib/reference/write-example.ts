import type { Operation } from "./read-reference.ts";

/** Returns a curl command that contains `$GATEWAY_API_KEY` instead of a key. */
export function writeExample(baseUrl: string, { path, example, isForm, needsKey }: Operation): string {
  const parts = [`curl ${baseUrl}${path.replace("{slug}", "demo/echo")}`];
  if (needsKey) parts.push(`-H "Authorization: Bearer $GATEWAY_API_KEY"`);
  // Examples contain no apostrophe, which would end the shell's argument.
  if (example && isForm) {
    parts.push(...Object.entries(example).map(([name, value]) => `-F '${name}=${value}'`));
  } else if (example) {
    parts.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(example)}'`);
  }
  return parts.join(" \\\n  ");
}
