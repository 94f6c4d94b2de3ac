import type { Operation } from "./read-reference.ts";

/** A first request, to be pasted as it stands: the key comes from the environment variable `GATEWAY_API_KEY`. */
export function writeExample(baseUrl: string, { path, example, needsKey }: Operation): string {
  const parts = [`curl ${baseUrl}${path.replace("{slug}", "demo/echo")}`];
  if (needsKey) parts.push(`-H "Authorization: Bearer $GATEWAY_API_KEY"`);
  if (example) {
    // None of the examples has an apostrophe, which would end the text here.
    parts.push(`-H "Content-Type: application/json"`, `-d '${JSON.stringify(example)}'`);
  }
  return parts.join(" \\\n  ");
}
