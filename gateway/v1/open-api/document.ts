import { answerSchemas } from "./answer-schemas.ts";
import { responseHeaders } from "./error-responses.ts";
import { operations } from "./operations.ts";
import { requestSchemas } from "./request-schemas.ts";

/**
 * The public API as OpenAPI: request schemas come from the checks, errors from their table.
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
    // Relative to the document's own address.
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [
      { name: "OpenAI", description: "What OpenAI's SDK, and most tools, speak." },
      { name: "Anthropic", description: "What Claude Code and Anthropic's SDK speak." },
      { name: "Models", description: "What the key may use." },
      { name: "Health", description: "For load balancers; without a key." },
    ],
    paths: operations,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key: `sk-gateway-…`." },
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "The same, as Anthropic's clients send it.",
        },
      },
      headers: responseHeaders,
      schemas: { ...requestSchemas, ...answerSchemas },
    },
  };
}

const about = [
  "One address and one API key in front of many providers, in OpenAI's form and in Anthropic's.",
  "A model is addressed by its slug, `<provider>/<model_name>`, in requests and in answers.",
  "The schemas of requests are what the gateway checks. Fields that they do not have are not refused: they pass on to a provider that speaks the same form, and are translated for one that does not.",
  "Every answer carries `x-request-id`; where a key was known, it is the id of the usage record.",
].join("\n\n");
