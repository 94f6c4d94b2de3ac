import { chat } from "../../dialects/chat/chat.ts";
import type { Dialect } from "../../dialects/dialect.ts";
import { messages as messagesDialect } from "../../dialects/messages/messages.ts";
import { bodyErrors, errorResponses, keyErrors, modelErrors } from "./error-responses.ts";

type ErrorCodes = Parameters<typeof errorResponses>[0];

type ModelCall = {
  dialect: Dialect;
  id: string;
  summary: string;
  description: string;
  request: string;
  answer: string;
  /** Describes the events of a stream. Undefined if the endpoint has no streams. */
  stream?: string;
  example: object;
  errors?: ErrorCodes;
};

export function modelCall(call: ModelCall): object {
  const events = { schema: { type: "string", description: call.stream } };
  return {
    operationId: call.id,
    tags: [call.dialect === messagesDialect ? "Anthropic" : "OpenAI"],
    summary: call.summary,
    description: call.description,
    requestBody: {
      required: true,
      content: { "application/json": { schema: schemaOf(call.request), example: call.example } },
    },
    responses: {
      200: success(call.answer, call.stream === undefined ? {} : { "text/event-stream": events }),
      ...errorResponses([...keyErrors, ...bodyErrors, ...(call.errors ?? modelErrors)], call.dialect),
    },
  };
}

type Lookup = {
  id: string;
  tag: "Models" | "OpenAI";
  summary: string;
  description: string;
  answer: string;
  parameters: object[];
  errors: ErrorCodes;
};

export function lookup({ id, tag, summary, description, answer, parameters, errors }: Lookup): object {
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    parameters,
    responses: {
      200: success(answer),
      ...errorResponses([...keyErrors, ...errors], chat, tag === "Models" ? messagesDialect : undefined),
    },
  };
}

export function health(id: string, summary: string, description: string, canFail: boolean): object {
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

function success(answer: string, more: object = {}): object {
  return {
    description: "The answer.",
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema: schemaOf(answer) }, ...more },
  };
}

function schemaOf(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

export function query(name: string, schema: object, description: string): object {
  return { name, in: "query", schema, description };
}

export function anthropicVersion(): object {
  return {
    name: "anthropic-version",
    in: "header",
    schema: { type: "string" },
    description: "Selects Anthropic's format for models and errors.",
  };
}
