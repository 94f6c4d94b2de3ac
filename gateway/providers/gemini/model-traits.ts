/** What differs between Google's models and nothing but their names can tell. */
export type ModelTraits = {
  /** How much it thinks is a number of tokens. The others take a level, and refuse a number or will. */
  thinksByBudget: boolean;
  /** It always thinks a little. */
  cannotStopThinking: boolean;
  /** It refuses calls of functions that come back without the signatures it gave them. */
  needsSignatures: boolean;
  /** It takes pictures and files inside the result of a function. */
  takesMediaInResults: boolean;
  takesSystemInstruction: boolean;
};

/**
 * Names that nobody knows yet, and those like `gemini-flash-latest`, are taken for the newest. Sources:
 * https://ai.google.dev/gemini-api/docs/thinking, https://ai.google.dev/gemini-api/docs/thought-signatures and
 * https://ai.google.dev/gemma/docs/core/prompt-structure (Gemma 3: no instructions of the system).
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

/** Where a model is below the base URL. Google writes its name with `models/` in front and without. */
export function modelPath(name: string): string {
  return `/models/${encodeURIComponent(bareModelName(name).toWellFormed())}`;
}

export function bareModelName(name: string): string {
  return name.replace(/^models\//, "");
}
