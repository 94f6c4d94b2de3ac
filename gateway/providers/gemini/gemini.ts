import { ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import { endpointAt } from "../endpoint-at.ts";
import type { Provider } from "../provider.ts";
import { readModelNames } from "../read-model-names.ts";
import { buildGenerateRequest } from "./build-generate-request.ts";
import { GenerateStreamReader } from "./generate-stream-reader.ts";
import { geminiEmbeddings } from "./gemini-embeddings.ts";
import { modelPath, bareModelName } from "./model-path.ts";
import { readGenerateAnswer } from "./read-generate-answer.ts";
import { isObject } from "../../wire/chat-completion.ts";

const baseUrl = "https://generativelanguage.googleapis.com/v1beta";

/** Google's own API for its Gemini models. https://ai.google.dev/api/generate-content */
export const gemini: Provider = {
  label: "Google Gemini",
  fields: { baseUrl: "optional", apiKey: "required" },
  telemetryName: "gcp.gemini",
  aiSdkName: "google",
  defaultBaseUrl: baseUrl,
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
    // Google takes the key in the query too, where it would end up in logs.
    const headers = settings.secret === null ? [] : ["x-goog-api-key", settings.secret];
    const endpoint = (path: string) => endpointAt(settings, path, headers);
    return {
      modelsEndpoint: endpoint("/models?pageSize=1000"),
      readModelNames: (list) => readModelNames(list, "models", "name", isUsable)?.map(bareModelName) ?? null,
      chat: ({ name }) => ({
        quirks: null,
        endpoint: endpoint(`${modelPath(name)}:generateContent`),
        streamEndpoint: endpoint(`${modelPath(name)}:streamGenerateContent?alt=sse`),
        buildRequest: buildGenerateRequest,
        readAnswer: readGenerateAnswer,
        streamContentType: "text/event-stream",
        createDecoder: (eventBytesMax) => new ServerSentEventDecoder(eventBytesMax),
        createStreamReader: () => new GenerateStreamReader(),
      }),
      embeddings: ({ name }) => geminiEmbeddings(endpoint(`${modelPath(name)}:batchEmbedContents`)),
      meantStatus,
    };
  },
};

/** Google answers 400 to a key that it does not know, as to a request that is wrong. */
function meantStatus(status: number, body: unknown): number {
  return status === 400 && errorReasons(body).includes("API_KEY_INVALID") ? 401 : status;
}

/** The body is an object, or an array with that object in it. https://google.aip.dev/193 */
function errorReasons(body: unknown): unknown[] {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(outer) ? outer["error"] : null;
  const details = isObject(error) ? error["details"] : null;
  return Array.isArray(details)
    ? details.map((detail: unknown) => (isObject(detail) ? detail["reason"] : null))
    : [];
}

/** The models that chat or embed; others make pictures, films and speech. https://ai.google.dev/api/models */
function isUsable({ supportedGenerationMethods: methods }: Record<string, unknown>): boolean {
  return !Array.isArray(methods) || methods.includes("generateContent") || methods.includes("embedContent");
}
