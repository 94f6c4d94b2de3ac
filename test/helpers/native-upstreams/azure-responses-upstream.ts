import type { SeenRequest } from "../scripted-upstream.ts";
import { azureV1Form } from "./azure-upstream.ts";
import type { VendorForm } from "./native-upstream.ts";
import { readResponsesRequest } from "./responses-request.ts";
import { responsesForm } from "./responses-upstream.ts";
import { VendorRefusal } from "./vendor-refusal.ts";

/**
 * OpenAI's Responses API on Azure, under the newer path `/openai/v1`.
 * https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/responses
 */
export const azureResponsesForm: VendorForm = {
  ...responsesForm,
  kind: azureV1Form.kind,
  credential: azureV1Form.credential,
  model: azureV1Form.model,
  baseUrl: azureV1Form.baseUrl,

  read(request) {
    checkAzureCall(request);
    return readResponsesRequest(request, azureV1Form.model);
  },

  refuse: azureV1Form.refuse,
};

export function checkAzureCall({ method, url, headers }: SeenRequest): void {
  if (headers["api-key"] !== azureV1Form.credential) {
    throw new VendorRefusal("unauthenticated", "Access denied due to invalid subscription key.");
  }
  if (method !== "POST" || url !== "/openai/v1/responses") {
    throw new VendorRefusal("not found", "Resource not found");
  }
}
