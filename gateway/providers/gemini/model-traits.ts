/** Differences between models, which only their names reveal. */
export type ModelTraits = {
  /** Whether thinking has a token budget. Other models accept a level, and may reject a budget. */
  thinksByBudget: boolean;
  /** Whether the model cannot disable reasoning. */
  cannotStopThinking: boolean;
  /** Whether the model rejects returned function calls without signatures. */
  needsSignatures: boolean;
  /** Whether the model accepts images and files inside a function's result. */
  takesMediaInResults: boolean;
  takesSystemInstruction: boolean;
};

/**
 * Unknown names, and aliases like `gemini-flash-latest`, count as the newest.
 * https://ai.google.dev/gemini-api/docs/thinking, https://ai.google.dev/gemini-api/docs/thought-signatures,
 * https://ai.google.dev/gemma/docs/core/prompt-structure (Gemma 3 has no system instructions)
 */
export function modelTraits(modelName: string): ModelTraits {
  const name = bareModelName(modelName).toLowerCase();
  const thinksByBudget = /^gemini-(2\.5|robotics-er-1\.5)\b/.test(name);
  const isGemini3OrLater = name.startsWith("gemini-") && !thinksByBudget && !/^gemini-[12][.-]/.test(name);
  return {
    thinksByBudget,
    cannotStopThinking: /^gemini-2\.5-pro\b/.test(name),
    needsSignatures: isGemini3OrLater,
    takesMediaInResults: isGemini3OrLater,
    takesSystemInstruction: !/^gemma-3n?\b/.test(name),
  };
}

/** Returns a model's path below the base URL. Google writes its name with and without `models/`. */
export function modelPath(name: string): string {
  return `/models/${encodeURIComponent(bareModelName(name).toWellFormed())}`;
}

export function bareModelName(name: string): string {
  return name.replace(/^models\//, "");
}
