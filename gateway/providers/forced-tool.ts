/**
 * The instruction in place of a forced tool, for models that cannot be forced.
 * https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5#forced-tool-use-is-not-supported
 * @param name the only tool to call, or undefined for any tool
 */
export function callInWords(name: string | undefined): string {
  const tool = name === undefined ? "at least one of the tools" : `the tool ${JSON.stringify(name)}`;
  return `You must now call ${tool}. Respond with the tool call, and do not answer in text instead.`;
}
