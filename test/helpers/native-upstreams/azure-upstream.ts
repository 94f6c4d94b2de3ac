import type { VendorForm } from "./native-upstream.ts";
import { readOpenAiRequest } from "./openai-request.ts";
import {
  buildCompletion,
  buildContentChunks,
  buildLastChunks,
  doneEvent,
  openAiForm,
  toEvent,
} from "./openai-upstream.ts";
import { type Fields, type RefusalReason, VendorRefusal } from "./vendor-refusal.ts";

/**
 * Azure OpenAI's newer API: OpenAI's format with Microsoft's content filter results. The model is the
 * deployment's name.
 * https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference
 * https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle
 */
export const azureV1Form = azureForm({
  baseUrl: (origin) => `${origin}/openai/v1`,
  path: "/openai/v1/chat/completions",
  apiVersion: null,
  model: "our-gpt-oss",
});

/** The older generation: the path contains the deployment, and the query a dated version. */
export const azureDatedForm = azureForm({
  baseUrl: (origin) => `${origin}?api-version=2024-10-21`,
  path: "/openai/deployments/our-gpt-oss/chat/completions",
  apiVersion: "2024-10-21",
  model: "our-gpt-oss",
});

function azureForm({ baseUrl, path, apiVersion, model }: AzurePaths): VendorForm {
  const credential = "0123456789abcdef0123456789abcdef";
  return {
    ...openAiForm,
    kind: "azure-openai",
    credential,
    model,
    baseUrl,

    read(request) {
      const { pathname, searchParams } = new URL(request.url, "http://upstream");
      if (request.headers["api-key"] !== credential) {
        throw new VendorRefusal(
          "unauthenticated",
          "Access denied due to invalid subscription key or wrong API endpoint.",
        );
      }
      if (request.method !== "POST" || pathname !== path || searchParams.get("api-version") !== apiVersion) {
        throw new VendorRefusal("not found", "Resource not found");
      }
      return readOpenAiRequest(request, apiVersion === null ? model : null);
    },

    answer(answer, asked) {
      const { choices, ...rest } = buildCompletion(answer, asked);
      return { choices: withFilterResults(choices), prompt_filter_results: promptFilterResults, ...rest };
    },

    streamStart(answer, asked) {
      const chunks = buildContentChunks(answer, asked);
      return [toEvent(firstChunk), ...chunks.map((chunk) => toEvent(withFilter(chunk)))];
    },

    streamEnd(answer, asked) {
      const chunks = buildLastChunks(answer, asked);
      return [...chunks.map((chunk) => toEvent(withFilter(chunk))), doneEvent];
    },

    refuse({ reason, message }) {
      const { status, code } = refusals[reason];
      return { status, body: { error: { code, message } } };
    },
  };
}

type AzurePaths = {
  baseUrl(origin: string): string;
  path: string;
  /** The version in the query. Null for the newer API, whose requests have the deployment in the body. */
  apiVersion: string | null;
  model: string;
};

const refusals: Record<RefusalReason, { status: number; code: string }> = {
  invalid: { status: 400, code: "BadRequest" },
  unauthenticated: { status: 401, code: "401" },
  "rate limited": { status: 429, code: "429" },
  "not found": { status: 404, code: "DeploymentNotFound" },
  overloaded: { status: 503, code: "503" },
};

const verdict = { filtered: false, severity: "safe" };
const filterResults = { hate: verdict, self_harm: verdict, sexual: verdict, violence: verdict };
const promptFilterResults = [
  {
    prompt_index: 0,
    content_filter_results: { ...filterResults, jailbreak: { filtered: false, detected: false } },
  },
];

/** The prompt's filter results precede the response in their own chunk. */
const firstChunk = {
  choices: [],
  created: 0,
  id: "",
  model: "",
  object: "",
  prompt_filter_results: promptFilterResults,
};

function withFilter({ choices, ...rest }: Fields): Fields {
  return { choices: withFilterResults(choices), ...rest };
}

function withFilterResults(choices: unknown): object[] {
  return (choices as object[]).map((choice) => ({ content_filter_results: filterResults, ...choice }));
}
