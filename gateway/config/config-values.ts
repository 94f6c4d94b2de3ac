import * as z from "zod";
import { MysqlUrlError, parseMysqlUrl } from "../../db/mysql-url.ts";

/** `problem` completes a sentence about the value. The default maximum is the longest timer delay in ms. */
export function wholeNumber(problem: string, least: number, most = 2 ** 31 - 1) {
  const advice = `Use a whole number from ${least} to ${most}.`;
  const message = `${problem} ${advice}`;
  const range = `is out of range. ${advice}`;
  return z.coerce.number(message).int(message).min(least, range).max(most, range);
}

const usdProblem = "is not an amount in US dollars. Use a number from 0 to 1000000, such as 20 or 0.5.";
export const amountUsd = z.coerce.number(usdProblem).min(0, usdProblem).max(1_000_000, usdProblem);

const shareProblem = "is not a share of the traces. Use a number from 0 to 1, such as 0.1.";
export const share = z.coerce.number(shareProblem).min(0, shareProblem).max(1, shareProblem);

export const port = wholeNumber("is not a port.", 0, 65_535);

export const workersSetting = z
  .string()
  .refine(
    (text) => text === "auto" || /^[1-9]\d{0,2}$/.test(text),
    "is not a number of workers. Use a whole number from 1 to 999, or auto.",
  )
  .transform((text) => (text === "auto" ? text : Number(text)));

export const headerPairs = pairs("api-key=secret", isHeader);

export const attributePairs = pairs("deployment.environment.name=production", () => true);

export const httpUrl = z
  .url({
    protocol: /^https?$/,
    error: "is not an http or https URL. Use a URL such as https://gateway.example.com.",
  })
  .transform((url) => url.replace(/\/+$/, ""));

export const databaseUrl = z
  .string()
  .regex(
    /^(sqlite:.+|mysql:\/\/[^/]+\/[^/?]+(\?.*)?)$/,
    "is not a database URL. Use sqlite:<path> or mysql://user:password@host:3306/name.",
  )
  .refine(
    (url) => url.startsWith("sqlite:") || URL.canParse(url),
    "is not a valid URL. Percent-encode special characters in the user name and the password.",
  )
  .superRefine((url, context) => {
    const message = url.startsWith("mysql://") && URL.canParse(url) ? mysqlProblem(url) : null;
    if (message !== null) context.addIssue({ code: "custom", message });
  });

function mysqlProblem(url: string): string | null {
  try {
    parseMysqlUrl(url);
    return null;
  } catch (error) {
    return error instanceof MysqlUrlError
      ? error.message
      : "contains an invalid percent-encoding. Write the character % as %25.";
  }
}

export const masterKey = z
  .string()
  .transform((text) => readKey(text))
  .refine((key) => key !== null, "is not 32 bytes in base64. Create a key with: openssl rand -base64 32");

export const masterKeys = z
  .string()
  .transform((text) => partsOf(text).map(readKey))
  .refine(
    (keys) => !keys.includes(null),
    "contains a key that is not 32 bytes in base64. Separate the keys with commas.",
  )
  .transform((keys) => keys.filter((key) => key !== null));

export const encryptionContext = z
  .string()
  .transform((text) => partsOf(text).map((pair) => /^([^=]+)=(.+)$/.exec(pair)?.slice(1) ?? []))
  .refine(
    (pairs) => pairs.every((pair) => pair.length === 2),
    "is not a list of name=value pairs. Separate the pairs with commas, such as app=gateway,stack=prod.",
  )
  .transform((pairs) => Object.fromEntries(pairs) as Record<string, string>);

export const jwtSecret = z
  .string()
  .transform(partsOf)
  .refine(
    (secrets) => secrets.every((secret) => Buffer.byteLength(secret) >= 32),
    "contains a secret of fewer than 32 bytes. Create a secret with: openssl rand -base64 32",
  );

export const webhookSecret = z
  .string()
  .refine(
    (secret) => Buffer.byteLength(secret) >= 32,
    "has fewer than 32 bytes. Create a secret with: openssl rand -base64 32",
  );

export const privateHosts = z
  .string()
  .transform((text) => partsOf(text.toLowerCase()).filter(Boolean))
  .refine(
    (hosts) => hosts.every((host) => host === "*" || isHostAndPort(host)),
    "is not a list of host:port. Use a list such as localhost:11434,10.0.0.5:8000, or * for all hosts.",
  );

export const corsOrigins = z
  .string()
  .transform((text) => partsOf(text.toLowerCase()).filter(Boolean))
  .refine(
    (origins) => origins.every((origin) => origin === "*" || isOrigin(origin)),
    "is not a list of origins. Use a list such as https://app.example.com,http://localhost:3000, or * for all origins.",
  );

/** An origin as browsers send it, so without a path, a final slash or a default port. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^[a-z][a-z0-9+.-]*:$/.test(url.protocol) &&
    text === `${url.protocol}//${url.host}` &&
    /^[^*]+$/.test(url.host)
  );
}

export const valkeyUrl = z
  .string()
  .refine(
    (url) =>
      /^(redis|valkey)s?:\/\/[^/?#\s]+(\/\d{0,3})?$/.test(url) && URL.canParse(url) && isDecodable(url),
    "is not a Valkey URL. Use redis://user:password@host:6379/0, or rediss:// for TLS, and percent-encode special characters in the password.",
  );

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== "";
  } catch {
    return false;
  }
}

function isHostAndPort(text: string): boolean {
  const port = /^(?:\[[0-9a-f:.]+\]|[^\s:/]+):(\d{1,5})$/.exec(text)?.[1];
  return port !== undefined && Number(port) >= 1 && Number(port) <= 65_535;
}

/** A 32-byte key in base64 or base64url. Null for anything else, because `Buffer.from` skips invalid characters. */
export function readKey(text: string): Buffer | null {
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, "base64") : null;
}

/** The parts of a list that commas separate. */
function partsOf(text: string): string[] {
  return text.split(",").map((part) => part.trim());
}

/** Parses `name=value` pairs, separated by commas, with percent-encoded values. */
function pairs(example: string, fits: (name: string, value: string) => boolean) {
  const message = `is not a list of name=value pairs. Separate the pairs with commas, such as ${example}.`;
  return z.string().transform((text, context) => {
    const read = partsOf(text).filter(Boolean).map(readPair);
    const found = read.filter((pair) => pair !== null && fits(...pair)) as [string, string][];
    if (found.length < read.length) context.addIssue({ code: "custom", message });
    return Object.fromEntries(found) as Record<string, string>;
  });
}

function readPair(pair: string): [string, string] | null {
  const [, name = "", value = ""] = /^([\w.!#$&'*+^`|~/-]+)\s*=\s*(.*)$/.exec(pair) ?? [];
  try {
    const decoded = decodeURIComponent(value);
    return name === "" ? null : [name, decoded];
  } catch {
    return null;
  }
}

/** Rejects line breaks, which would start another header. */
function isHeader(name: string, value: string): boolean {
  return !name.includes("/") && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}
