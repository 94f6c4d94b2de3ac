import { isObject } from "../../wire/chat-completion.ts";
import { bareModelName } from "./model-path.ts";

/** The models that chat or embed; others make pictures, films and speech. https://ai.google.dev/api/models */
export function readModelNames(list: unknown): string[] | null {
  const models = isObject(list) ? list["models"] : null;
  if (!Array.isArray(models)) return null;
  return models.flatMap((model: unknown) =>
    isObject(model) && typeof model["name"] === "string" && isOfUse(model["supportedGenerationMethods"])
      ? bareModelName(model["name"])
      : [],
  );
}

function isOfUse(methods: unknown): boolean {
  return !Array.isArray(methods) || methods.includes("generateContent") || methods.includes("embedContent");
}
