import { messages } from "../../dialects/messages/messages.ts";
import { templateOf } from "../endpoint.ts";
import { endpoints, type V1Endpoint } from "../endpoints.ts";
import { bodyErrors, errorResponses, keyErrors } from "./error-responses.ts";
import type { SchemaName } from "./schemas.ts";

/** The documented endpoints by path and method. A test compares them with the router. */
export const operations: Record<string, Record<string, object>> = {
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
