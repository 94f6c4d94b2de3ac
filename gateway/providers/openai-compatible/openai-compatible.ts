import { isObject } from "../../wire/chat-completion.ts";
import type { Endpoint, NetworkProvider, ProviderSettings } from "../provider.ts";

/** OpenAI and everyone who speaks its form: requests and answers go through as they are. */
export const openAiCompatible: NetworkProvider = {
  reach: "network",
  chatEndpoint: (settings) => endpointAt(settings, "/chat/completions"),
  modelsEndpoint: (settings) => endpointAt(settings, "/models"),
  readModelNames(list) {
    const models = isObject(list) ? list["data"] : list;
    if (!Array.isArray(models)) return null;
    return models.flatMap((model: unknown) =>
      isObject(model) && typeof model["id"] === "string" ? model["id"] : [],
    );
  },
};

function endpointAt({ baseUrl, secret }: ProviderSettings, path: string): Endpoint {
  const { origin, pathname, search } = new URL(baseUrl);
  return {
    origin,
    secret,
    path: `${pathname.replace(/\/+$/, "")}${path}${search}`,
    headers: [
      ...(secret === null ? [] : ["authorization", `Bearer ${secret}`]),
      "content-type",
      "application/json",
      "accept",
      "application/json, text/event-stream",
      // Usage is read from the bytes as they pass, so they must come as they are.
      "accept-encoding",
      "identity",
      "user-agent",
      "model-gateway",
    ],
  };
}
