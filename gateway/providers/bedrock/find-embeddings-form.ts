import { cohereEmbeddings } from "./cohere-embeddings.ts";
import type { EmbeddingsForm } from "./embeddings-form.ts";
import { titanEmbeddings } from "./titan-embeddings.ts";

/** Converse has no embeddings, so each family of models has a form of its own. Null for models that make none that is known. */
export function findEmbeddingsForm(modelName: string): EmbeddingsForm | null {
  if (/amazon\.titan-embed-(g1-)?text/.test(modelName)) return titanEmbeddings(modelName.includes("text-v2"));
  if (modelName.includes("cohere.embed-")) return cohereEmbeddings(modelName.includes("embed-v4"));
  return null;
}
