import type { UsageRecord } from "#lib/usage/usage-record.ts";

/** Returns a curl command that resembles the recorded request, with a sample prompt and a variable for the key. */
export function writeCurl({ endpoint, model, stream }: UsageRecord, baseUrl: string): string {
  const body = { model, ...inputOf(endpoint), ...(stream && { stream }) };
  return [
    `curl ${inShell(`${baseUrl}/v1/${endpoint}`)} \\`,
    // Double quotes let the shell expand the variable.
    `  -H "Authorization: Bearer $GATEWAY_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${inShell(JSON.stringify(body))}`,
  ].join("\n");
}

const prompt = "Hello, gateway!";

function inputOf(endpoint: string): object {
  if (endpoint.startsWith("responses") || endpoint === "embeddings") return { input: prompt };
  const messages = [{ role: "user", content: prompt }];
  return endpoint === "messages" ? { max_tokens: 1_024, messages } : { messages };
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
