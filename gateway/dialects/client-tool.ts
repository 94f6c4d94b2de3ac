/**
 * Which coding tool makes a request, as far as its headers tell; null where they do not. Seen in real requests of November
 * 2026, but for those marked as read in the tool's source or documentation.
 * @param headers names in lower case
 */
export function findClientTool(headers: ClientHeaders): ClientTool | null {
  const userAgent = textOf(headers["user-agent"]);
  for (const [tool, pattern] of byUserAgent) if (pattern.test(userAgent)) return tool;
  for (const [tool, name, pattern] of byOtherHeader) if (pattern.test(textOf(headers[name]))) return tool;
  return null;
}

export type ClientTool = (typeof byUserAgent)[number][0] | (typeof byOtherHeader)[number][0];

type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

function textOf(value: string | string[] | undefined): string {
  return typeof value === "string" ? value : "";
}

const byUserAgent = [
  ["claude-code", /^claude-(cli|code)\//],
  // Its terminal, `codex exec`, and what it called itself before; its desktop app and its extensions (read).
  ["codex", /^codex[_-]|^Codex( |\/)/],
  ["opencode", /^opencode\//],
  ["kilo-code", /^Kilo-Code\//],
  ["qwen-code", /^QwenCode\//],
  ["pi", /^pi \(/],
  ["kimi-code", /^kimi-code-cli\//],
  ["gemini-cli", /^GeminiCLI/],
  ["continue", /^ls\/JS /],
  // Nothing but the library that it is made with, in the runtime that few others use.
  ["cline", /^ai-sdk\/openai-compatible\/.* runtime\/bun\//],
  // Read.
  ["crush", /^(Charm[ -])?Crush\//i],
  ["goose", /^goose\//i],
  ["zed", /^Zed\//],
  ["aider", /^aider\//i],
  ["droid", /^factory-cli\//],
] as const;

/** Of tools that have nothing of their own in their user agent. */
const byOtherHeader = [
  ["copilot", "x-initiator", /^(user|agent)$/],
  // Read.
  ["cline", "http-referer", /^https:\/\/cline\.bot\b/],
  ["kilo-code", "http-referer", /^https:\/\/kilocode\.ai\b/],
] as const;
