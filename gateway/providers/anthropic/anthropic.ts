import { isObject } from "../../wire/json.ts";
import { ServerSentEventDecoder } from "../../wire/server-sent-events.ts";
import { endpointAt, readModelNames } from "../endpoint-at.ts";
import type { ChatTranslation, Provider } from "../provider.ts";
import { buildMessagesRequest } from "./build-messages-request.ts";
import { findClaudeTraits } from "../claude-models.ts";
import { MessageStreamReader, readMessage } from "./message-stream-reader.ts";

/** Anthropic's Messages API. https://platform.claude.com/docs/en/api/messages/create */
export const anthropic: Provider = {
  label: "Anthropic",
  fields: { baseUrl: "optional", apiKey: "required" },
  telemetryName: "anthropic",
  defaultBaseUrl: "https://api.anthropic.com/v1",
  versionPath: "/v1",
  presets: [
    {
      name: "anthropic",
      label: "Anthropic",
      baseUrl: "https://api.anthropic.com/v1",
      keyPageUrl: "https://platform.claude.com/settings/keys",
      keyVariable: "ANTHROPIC_API_KEY",
    },
  ],
  connect(settings) {
    const headers = [
      ...(settings.secret === null ? [] : ["x-api-key", settings.secret]),
      "anthropic-version",
      apiVersion,
    ];
    const native = {
      messages: { endpoint: endpointAt(settings, "/messages", headers) },
      "messages/count_tokens": { endpoint: endpointAt(settings, "/messages/count_tokens", headers) },
    };
    return {
      modelsEndpoint: endpointAt(settings, "/models?limit=1000", headers),
      readModelNames: (list) => readModelNames(list, "data", "id"),
      apis({ name }) {
        const betas = findClaudeTraits(name).bindsThoughts ? ["anthropic-beta", thinkingBindingBeta] : [];
        const endpoint = endpointAt(settings, "/messages", [...headers, ...betas]);
        return {
          ...native,
          "chat/completions": { endpoint, streamEndpoint: endpoint, quirks: null, ...translation },
        };
      },
      effectiveStatus,
    };
  },
};

/** API versions from 2026-10-21 on lack `temperature`, `top_p` and `top_k`. */
const apiVersion = "2023-06-01";

/** This beta allows `thinking.block_binding`. */
const thinkingBindingBeta = "thinking-binding-controls-2026-08-01";

const translation: ChatTranslation = {
  buildRequest: buildMessagesRequest,
  readAnswer: readMessage,
  streamContentType: "text/event-stream",
  createDecoder: (eventBytesMax) => new ServerSentEventDecoder(eventBytesMax),
  createStreamReader: () => new MessageStreamReader(),
};

/** Anthropic reports exhausted credit and reached usage limits with status 400. */
function effectiveStatus(status: number, body: unknown): number {
  const error = isObject(body) ? body["error"] : null;
  const message = isObject(error) ? error["message"] : null;
  if (status !== 400 || typeof message !== "string") return status;
  // The pattern is slow on long texts that repeat its words, and a hostile upstream could send such a text.
  const start = message.slice(0, 500);
  return /credit balance is too low|reached your specified .*usage limits/i.test(start) ? 402 : status;
}
