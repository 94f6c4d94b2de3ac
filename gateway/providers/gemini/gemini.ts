import { ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import { endpointAt, readModelNames } from "../endpoint-at.ts";
import type { EmbeddingsTranslation, Provider } from "../provider.ts";
import { buildGenerateRequest } from "./build-generate-request.ts";
import { GenerateStreamReader, readGenerateAnswer } from "./generate-stream-reader.ts";
import { bareModelName, modelPath } from "./model-traits.ts";
import { isObject } from "../../wire/json.ts";
import { unsupported, invalidValue } from "../../wire/parameter-errors.ts";

const baseUrl = "https://generativelanguage.googleapis.com/v1beta";

/** Google's own API for Gemini models. https://ai.google.dev/api/generate-content */
export const gemini: Provider = {
  label: "Google Gemini",
  fields: { baseUrl: "optional", apiKey: "required" },
  telemetryName: "gcp.gemini",
  aiSdkName: "google",
  defaultBaseUrl: baseUrl,
  versionPath: "/v1beta",
  presets: [
    {
      name: "gemini",
      label: "Google Gemini",
      baseUrl,
      keyPageUrl: "https://aistudio.google.com/apikey",
      keyVariable: "GEMINI_API_KEY",
    },
  ],
  connect(settings) {
    // Google also accepts the key in the query, but proxies log URLs.
    const headers = settings.secret === null ? [] : ["x-goog-api-key", settings.secret];
    const endpoint = (path: string) => endpointAt(settings, path, headers);
    return {
      modelsEndpoint: endpoint("/models?pageSize=1000"),
      readModelNames: (list) => readModelNames(list, "models", "name", isUsable)?.map(bareModelName) ?? null,
      apis: ({ name }) => ({
        "chat/completions": {
          quirks: null,
          endpoint: endpoint(`${modelPath(name)}:generateContent`),
          streamEndpoint: endpoint(`${modelPath(name)}:streamGenerateContent?alt=sse`),
          buildRequest: buildGenerateRequest,
          readAnswer: readGenerateAnswer,
          streamContentType: "text/event-stream",
          createDecoder: (eventBytesMax) => new ServerSentEventDecoder(eventBytesMax),
          createStreamReader: () => new GenerateStreamReader(),
        },
        embeddings: {
          endpoint: endpoint(`${modelPath(name)}:batchEmbedContents`),
          translation: geminiEmbeddings,
        },
      }),
      effectiveStatus,
    };
  },
};

/** Google returns 400 for an invalid API key as well as for an invalid request. */
function effectiveStatus(status: number, body: unknown): number {
  return status === 400 && errorReasons(body).includes("API_KEY_INVALID") ? 401 : status;
}

/** The body is an object, or an array with that object. https://google.aip.dev/193 */
function errorReasons(body: unknown): unknown[] {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) ? outer["error"] : null;
  const details = isObject(error) ? error["details"] : null;
  return Array.isArray(details)
    ? details.map((detail: unknown) => (isObject(detail) ? detail["reason"] : null))
    : [];
}

/** https://ai.google.dev/api/models */
function isUsable({ supportedGenerationMethods: methods }: Record<string, unknown>): boolean {
  return !Array.isArray(methods) || methods.includes("generateContent") || methods.includes("embedContent");
}

/** One request embeds one or more texts. https://ai.google.dev/api/embeddings#method:-models.batchembedcontents */
const geminiEmbeddings: EmbeddingsTranslation = {
  buildRequest({ input, dimensions }, model) {
    if (dimensions !== undefined && dimensions !== null && typeof dimensions !== "number") {
      throw invalidValue("dimensions", "must be a number", dimensions);
    }
    return {
      requests: textsOf(input).map((text) => ({
        model: `models/${bareModelName(model.name)}`,
        content: { parts: [{ text }] },
        outputDimensionality: dimensions ?? undefined,
      })),
    };
  },
  readAnswer(answer) {
    const embeddings = isObject(answer) ? answer["embeddings"] : null;
    if (!isObject(answer) || !Array.isArray(embeddings)) throw new Error("The response has no embeddings.");
    const { usageMetadata: usage } = answer;
    const count = isObject(usage) ? usage["promptTokenCount"] : null;
    return {
      embeddings: embeddings.map(valuesOf),
      // Models before gemini-embedding-2 report no count.
      inputTokens: typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null,
    };
  },
};

function textsOf(input: unknown): string[] {
  const inputs: unknown[] = Array.isArray(input) ? input : [input];
  if (inputs.length > 0 && inputs.every((text) => typeof text === "string")) return inputs;
  if (inputs.some((item) => typeof item === "number" || Array.isArray(item))) {
    throw unsupported("input", "Gemini embeds text, not token IDs. Send strings.");
  }
  throw invalidValue("input", "must be a string or an array of strings");
}

function valuesOf(embedding: unknown): number[] {
  const values = isObject(embedding) ? embedding["values"] : null;
  if (!Array.isArray(values) || !values.every((value) => Number.isFinite(value))) {
    throw new Error("The embedding has no values.");
  }
  return values;
}
