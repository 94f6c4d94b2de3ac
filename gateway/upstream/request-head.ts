import type { Endpoint } from "../providers/provider.ts";
import { isToken } from "./is-token.ts";
import { withCode } from "./upstream-failure.ts";

/** What is sent to an upstream. */
export type UpstreamRequest = {
  /** With the empty line at its end; one character a byte. */
  head: string;
  body: Buffer | null;
};

/**
 * The part of a head that is the same in every request to an endpoint: all but the method and what depends on the body.
 * Throws for what HTTP cannot carry.
 */
export function formatSharedHead({ origin, path, headers }: Endpoint): string {
  if (!/^\/[\x21-\x7e]*$/.test(path)) throw unsendable("The path");
  return ` ${path} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nconnection: keep-alive\r\n${formatFields(headers)}`;
}

/**
 * A POST request, or a GET request where there is no body.
 * @param moreHeaders names and values in turn
 */
export function formatRequest(
  sharedHead: string,
  moreHeaders: string[],
  body: Buffer | null,
): UpstreamRequest {
  const fields = moreHeaders.length === 0 ? "" : formatFields(moreHeaders);
  return body === null
    ? { head: `GET${sharedHead}${fields}\r\n`, body }
    : { head: `POST${sharedHead}${fields}content-length: ${body.length}\r\n\r\n`, body };
}

function formatFields(headers: string[]): string {
  let fields = "";
  for (let index = 0; index < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    if (!isToken(name) || ours.test(name)) throw unsendable("The name of a header");
    // A value may be a secret, so that it is not told.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw unsendable(`The header ${name}`);
    fields += `${name}: ${value}\r\n`;
  }
  return fields;
}

/** What says where a request goes and where it ends is said once. */
const ours = /^(?:host|connection|content-length|transfer-encoding)$/i;

function unsendable(what: string): Error {
  return withCode("EBADREQUEST", `${what} cannot be sent.`);
}
