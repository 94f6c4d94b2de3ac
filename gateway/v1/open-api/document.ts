import { responseHeaders } from "./error-responses.ts";
import { operations } from "./operations.ts";
import { schemas } from "./schemas.ts";

/**
 * Request schemas come from the validation, and the status and code of each error from `error-response.ts`.
 * https://spec.openapis.org/oas/v3.1.1.html
 */
export function createOpenApiDocument(): object {
  return {
    openapi: "3.1.1",
    info: {
      title: "Model Gateway",
      version: "1",
      description: about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    // This URL is relative to the document's URL.
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [
      { name: "OpenAI", description: "The format of OpenAI's SDKs and most tools." },
      { name: "Anthropic", description: "The format of Claude Code and Anthropic's SDKs." },
      { name: "Models", description: "The models of the API key." },
      { name: "Health", description: "For load balancers. Needs no key." },
    ],
    paths: operations,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key: `sk-gateway-…`." },
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "An API key, as Anthropic's clients send it.",
        },
      },
      headers: responseHeaders,
      schemas,
    },
  };
}

const about = [
  "One URL and one API key for many providers, in OpenAI's and Anthropic's formats.",
  "Requests and responses name a model by its slug, `<provider>/<model_name>`.",
  "The request schemas describe the fields that the gateway validates. Providers with the same format also receive other fields. For other providers, the gateway translates, ignores or rejects them.",
  "Every response has an `x-request-id`. For a known key, it is the ID of the usage record.",
].join("\n\n");
