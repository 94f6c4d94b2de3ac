import { isObject } from "../../wire/json.ts";
import { endpointAt } from "../endpoint-at.ts";
import type { ChatQuirks } from "../../wire/chat-completion.ts";
import { chatCompletionsApi } from "../chat-completions/chat-completions-api.ts";
import type { Provider } from "../provider.ts";

/**
 * Azure serves OpenAI's chat completions at the URLs of a customer's resource. Model names are deployment names.
 * https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
 */
export const azureOpenAi: Provider = {
  label: "Azure OpenAI",
  fields: {
    baseUrl: "required",
    baseUrlExample: "https://<resource>.openai.azure.com",
    baseUrlHint: "The endpoint of your resource, shown in the Azure portal under Keys and Endpoint.",
    apiKey: "required",
  },
  telemetryName: "azure.ai.openai",
  defaultBaseUrl: null,
  presets: [
    {
      name: "azure-openai",
      label: "Azure OpenAI",
      baseUrl: null,
      keyPageUrl: "https://portal.azure.com/",
      hint: "Use your resource's endpoint, such as https://my-resource.openai.azure.com, as the base URL and your deployment names as models.",
      keyVariable: "AZURE_OPENAI_API_KEY",
      readEnvironment: ({ AZURE_OPENAI_ENDPOINT: endpoint = null }) => ({ baseUrl: endpoint }),
    },
  ],
  connect({ baseUrl, secret }) {
    const { resourceUrl, isDated } = readBaseUrl(baseUrl);
    const headers = secret === null ? [] : ["api-key", secret];
    const endpoint = (path: string) => endpointAt({ baseUrl: resourceUrl, secret }, path, headers);
    const endpointOf = (deployment: string, operation: string) =>
      endpoint(
        isDated
          ? `/openai/deployments/${encodeURIComponent(deployment.toWellFormed())}/${operation}`
          : `/openai/v1/${operation}`,
      );
    return {
      modelsEndpoint: endpoint(isDated ? "/openai/models" : "/openai/v1/models"),
      readModelNames,
      apis: ({ name }) => ({
        "chat/completions": chatCompletionsApi(endpointOf(name, "chat/completions"), quirks),
        embeddings: { endpoint: endpointOf(name, "embeddings") },
        ...(!isDated && {
          responses: { endpoint: endpoint("/openai/v1/responses") },
          "responses/compact": { endpoint: endpoint("/openai/v1/responses/compact") },
        }),
      }),
    };
  },
};

const quirks: ChatQuirks = {
  maxTokensName: "max_completion_tokens",
  developerRole: "developer",
  extensions: ["verbosity"],
};

/**
 * Removes Azure's API paths from the base URL. A dated `api-version`, such as 2024-10-21, selects the older URLs
 * with the deployment in the path.
 */
function readBaseUrl(baseUrl: string): { resourceUrl: string; isDated: boolean } {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/openai(\/v1|\/deployments\/.*)?\/*$/, "");
  return {
    resourceUrl: url.href,
    isDated: /^\d{4}-\d{2}-\d{2}/.test(url.searchParams.get("api-version") ?? ""),
  };
}

/**
 * Returns no names, because the list contains deployable models instead of deployments. Only Azure's management
 * API lists deployments, and that API requires another key.
 */
function readModelNames(list: unknown): string[] | null {
  return isObject(list) && Array.isArray(list["data"]) ? [] : null;
}
