import type { Operation } from "./read-reference.ts";

/** A first request, ready to paste. The key comes from the variable `GATEWAY_API_KEY`. */
export function writeExample(baseUrl: string, { path, example, needsKey }: Operation): string {
  const parts = [`curl ${baseUrl}${path.replace("{slug}", "demo/echo")}`];
  if (needsKey) parts.push(`-H "Authorization: Bearer $GATEWAY_API_KEY"`);
  if (example) {
    // Examples contain no apostrophe, which would end the shell's argument.
    parts.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(example)}'`);
  }
  return parts.join(" \\\n  ");
}
