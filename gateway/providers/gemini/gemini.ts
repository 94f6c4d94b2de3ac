import { ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import { endpointAt } from "../endpoint-at.ts";
import type { NetworkProvider } from "../provider.ts";
import { buildGenerateRequest } from "./build-generate-request.ts";
import { GenerateStreamReader } from "./generate-stream-reader.ts";
import { geminiEmbeddings } from "./gemini-embeddings.ts";
import { meantStatus } from "./meant-status.ts";
import { modelPath } from "./model-path.ts";
import { readGenerateAnswer } from "./read-generate-answer.ts";
import { readModelNames } from "./read-model-names.ts";

const baseUrl = "https://generativelanguage.googleapis.com/v1beta";

/** Google's own API for its Gemini models. https://ai.google.dev/api/generate-content */
export const gemini: NetworkProvider = {
  reach: "network",
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
      readModelNames,
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
