import type { IncomingHttpHeaders } from "node:http";
import type { RequestHandler } from "express";
import { type ClientHeaders, converse } from "../completions/converse.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { modelEndpoint, type ModelEndpointOptions } from "./model-endpoint.ts";

/** An endpoint for clients that speak another dialect than chat completions. */
export function dialectEndpoint(options: ModelEndpointOptions, dialect: Dialect): RequestHandler {
  const pick = dialect.endpointName === "messages" ? pickMessagesHeaders : () => ({});
  return modelEndpoint(
    options,
    dialect.endpointName,
    (completeOptions, exchange, body, headers) =>
      converse(completeOptions, exchange, body, dialect, pick(headers)),
    dialect,
  );
}

/** What an upstream that speaks Anthropic's form gets of the client's headers; all else stays here. */
export function pickMessagesHeaders(headers: IncomingHttpHeaders): ClientHeaders {
  const picked: ClientHeaders = {};
  for (const name of ["anthropic-version", "anthropic-beta"]) {
    const value = headers[name];
    if (typeof value === "string") picked[name] = value;
  }
  return picked;
}
