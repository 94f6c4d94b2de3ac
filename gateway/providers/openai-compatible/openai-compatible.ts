import type { NetworkProvider } from "../provider.ts";

/** OpenAI and everyone who speaks its form: requests and answers go through as they are. */
export const openAiCompatible: NetworkProvider = {
  reach: "network",
  chatEndpoint({ baseUrl, secret }) {
    const { origin, pathname, search } = new URL(baseUrl);
    return {
      origin,
      path: `${pathname.replace(/\/+$/, "")}/chat/completions${search}`,
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
  },
};
