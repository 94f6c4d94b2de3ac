/**
 * Unknown names of Gemini models, and aliases such as `gemini-flash-latest`, count as the newest models.
 * https://ai.google.dev/gemini-api/docs/thinking, https://ai.google.dev/gemini-api/docs/thought-signatures,
 * https://ai.google.dev/gemma/docs/core/prompt-structure (Gemma 3 has no system instructions)
 */
export function modelTraits(modelName: string) {
  const name = bareModelName(modelName).toLowerCase();
  const thinksByBudget = /^gemini-(2\.5|robotics-er-1\.5)\b/.test(name);
  const isGemini3OrLater = name.startsWith("gemini-") && !thinksByBudget && !/^gemini-[12][.-]/.test(name);
  const isPro25 = /^gemini-2\.5-pro\b/.test(name);
  return {
    /** Whether the model accepts a token budget for thinking. If not, the gateway sends a level. */
    thinksByBudget,
    /** The least and the greatest budget. https://ai.google.dev/gemini-api/docs/thinking#set-budget */
    leastBudget: isPro25 ? 128 : 0,
    budgetTokensMax: isPro25 ? 32_768 : 24_576,
    /** The lowest level. Pro models reject `MINIMAL`. https://ai.google.dev/gemini-api/docs/thinking#levels */
    leastLevel: name.includes("flash") ? "MINIMAL" : "LOW",
    /** Whether the model accepts tools beside JSON output. Others answer 400. */
    takesToolsWithFormat: isGemini3OrLater,
    /** Whether the model rejects earlier function calls without a thought signature. */
    needsSignatures: isGemini3OrLater,
    takesMediaInResults: isGemini3OrLater,
    takesSystemInstruction: !/^gemma-3n?\b/.test(name),
  };
}

export type ModelTraits = ReturnType<typeof modelTraits>;

/** The name may start with `models/`, as in Google's lists. */
export function modelPath(name: string): string {
  return `/models/${encodeURIComponent(bareModelName(name).toWellFormed())}`;
}

export function bareModelName(name: string): string {
  return name.replace(/^models\//, "");
}
