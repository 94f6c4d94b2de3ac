import type { UsageRecord } from "#lib/usage/usage-record.ts";

/**
 * A curl command that resembles the recorded request, with a sample prompt and a variable for the key. Null without a
 * model, and for an endpoint without a prompt.
 */
export function writeCurl({ endpoint, model, stream }: UsageRecord, baseUrl: string): string | null {
  const input = inputOf(endpoint);
  if (!model || input === null) return null;
  const body = { model, ...input, ...(stream && { stream }) };
  return [
    `curl ${inShell(`${baseUrl}/v1/${endpoint}`)} \\`,
    // Double quotes let the shell expand the variable.
    `  -H "Authorization: Bearer $GATEWAY_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d ${inShell(JSON.stringify(body))}`,
  ].join("\n");
}

const prompt = "Hello, gateway!";

function inputOf(endpoint: string): object | null {
  if (endpoint.startsWith("responses") || endpoint === "embeddings") return { input: prompt };
  const messages = [{ role: "user", content: prompt }];
  if (endpoint === "messages") return { max_tokens: 1_024, messages };
  return endpoint === "chat/completions" ? { messages } : null;
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
