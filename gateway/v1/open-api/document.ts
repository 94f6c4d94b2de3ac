import { messages } from "../../dialects/messages/messages.ts";
import { templateOf } from "../endpoint.ts";
import { endpoints, type V1Endpoint } from "../endpoints.ts";
import { bodyErrors, errorResponses, keyErrors, responseHeaders } from "./error-responses.ts";
import { type SchemaName, schemas } from "./schemas.ts";

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

/** The documented endpoints by path and method. A test compares them with the router. */
const operations: Record<string, Record<string, object>> = {
  ...Object.fromEntries(
    [...Map.groupBy(endpoints, ({ path }) => templateOf(path))].map(([path, group]) => [
      path,
      Object.fromEntries(group.map((endpoint) => [endpoint.method, describe(endpoint)])),
    ]),
  ),
  "/healthz": { get: health("isAlive", "Liveness", "The process is running.", false) },
  "/readyz": {
    get: health("isReady", "Readiness", "The process can serve requests. Does not query the database.", true),
  },
};

function describe({ dialect, openApi }: V1Endpoint): object {
  const { id, tag, summary, description, parameters, request, answer, stream, errors } = openApi;
  const codes = [...keyErrors, ...(request ? bodyErrors : []), ...errors];
  const events = { schema: { type: "string", description: stream } };
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(parameters && { parameters }),
    ...(request && { requestBody: describeBody(request) }),
    responses: {
      200: success(answer, stream === undefined ? {} : { "text/event-stream": events }),
      ...errorResponses(codes, dialect, tag === "Models" ? messages : undefined),
    },
  };
}

function describeBody({
  schema,
  example,
  contentType = "application/json",
}: NonNullable<V1Endpoint["openApi"]["request"]>): object {
  return { required: true, content: { [contentType]: { schema: schemaOf(schema), example } } };
}

function health(id: string, summary: string, description: string, canFail: boolean): object {
  const content = { "application/json": { schema: schemaOf("Health") } };
  return {
    operationId: id,
    tags: ["Health"],
    summary,
    description,
    security: [],
    responses: {
      200: { description: "Yes.", content },
      ...(canFail && { 503: { description: "Not ready, with the reason.", content } }),
    },
  };
}

function success(answer: SchemaName, more: object = {}): object {
  return {
    description: "The answer.",
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema: schemaOf(answer) }, ...more },
  };
}

function schemaOf(name: SchemaName): object {
  return { $ref: `#/components/schemas/${name}` };
}
