/** Whose model it is, as far as that decides what Converse passes on: it leaves much to the models. */
export type ModelFamily = {
  name: "claude" | "nova" | "gpt" | "gpt-oss" | "mistral" | "other";
  /** Claude's and Nova's generation, such as 405 for 4.5; 0 for the others. */
  version: number;
};

/**
 * @param modelName a model's id, an inference profile's (`us.anthropic.…`) or the ARN of one. An application inference
 * profile does not tell its model, so no more is asked of it than of any.
 */
export function findModelFamily(modelName: string): ModelFamily {
  if (modelName.includes("anthropic.")) return { name: "claude", version: readClaudeVersion(modelName) };
  if (modelName.includes("amazon.nova-2")) return { name: "nova", version: 200 };
  if (modelName.includes("amazon.nova")) return { name: "nova", version: 100 };
  if (modelName.includes("openai.gpt-oss")) return { name: "gpt-oss", version: 0 };
  if (modelName.includes("openai.")) return { name: "gpt", version: 0 };
  return { name: modelName.includes("mistral.") ? "mistral" : "other", version: 0 };
}

/** claude-opus-4-20250514-v1:0, claude-3-7-sonnet-20250219-v1:0, claude-v2:1; one without a number is taken for a new one. */
function readClaudeVersion(modelName: string): number {
  const [, major, minor = "0"] = /claude-(?:[a-z]+-)?v?(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(modelName) ?? [];
  return major === undefined ? Infinity : Number(major) * 100 + Number(minor);
}
