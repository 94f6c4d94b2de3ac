import * as z from "zod";
import { MysqlUrlError, parseMysqlUrl } from "../../db/mysql-url.ts";

/** The formats of environment variables, each with its error message. */
export const port = z.coerce
  .number("is not a port. Use a whole number from 0 to 65535")
  .int("is not a port. Use a whole number from 0 to 65535")
  .min(0, "is not a port. Use a whole number from 0 to 65535")
  .max(65_535, "is not a port. Use a whole number from 0 to 65535");

export const httpUrl = z
  .url({ protocol: /^https?$/, error: "is not an http(s) URL, such as https://gateway.example.com" })
  .transform((url) => url.replace(/\/+$/, ""));

export const databaseUrl = z
  .string()
  .regex(
    /^(sqlite:.+|mysql:\/\/[^/]+\/[^/?]+(\?.*)?)$/,
    "is neither sqlite:<path> nor mysql://user:password@host:3306/name",
  )
  .refine(
    (url) => url.startsWith("sqlite:") || URL.canParse(url),
    "is not a valid URL: percent-encode special characters in the password",
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
    return error instanceof MysqlUrlError ? error.message : "contains an invalid percent-encoding";
  }
}

export const masterKey = z
  .string()
  .transform((text) => readKey(text))
  .refine((key) => key !== null, "must be 32 bytes in base64, for example from: openssl rand -base64 32");

export const masterKeys = z
  .string()
  .transform((text) => text.split(",").map((key) => readKey(key.trim())))
  .refine((keys) => !keys.includes(null), "must be a comma-separated list of keys with 32 bytes in base64")
  .transform((keys) => keys.filter((key) => key !== null));

export const encryptionContext = z
  .string()
  .transform((text) => text.split(",").map((pair) => /^([^=]+)=(.+)$/.exec(pair.trim())?.slice(1) ?? []))
  .refine(
    (pairs) => pairs.every((pair) => pair.length === 2),
    "is not a comma-separated list of name=value, such as app=gateway,stack=prod",
  )
  .transform((pairs) => Object.fromEntries(pairs) as Record<string, string>);

export const jwtSecret = z
  .string()
  .transform((text) => text.split(",").map((secret) => secret.trim()))
  .refine(
    (secrets) => secrets.every((secret) => Buffer.byteLength(secret) >= 32),
    "must be a comma-separated list of secrets with at least 32 bytes, for example from: openssl rand -base64 32",
  );

export const webhookSecret = z
  .string()
  .refine((secret) => Buffer.byteLength(secret) >= 32, "must have at least 32 bytes");

export const privateHosts = z
  .string()
  .transform((text) =>
    text
      .split(",")
      .map((host) => host.trim().toLowerCase())
      .filter(Boolean),
  )
  .refine(
    (hosts) => hosts.every((host) => host === "*" || isHostAndPort(host)),
    "is neither a list of host:port, such as localhost:11434,10.0.0.5:8000, nor *",
  );

export const valkeyUrl = z
  .string()
  .refine(
    (url) =>
      /^(redis|valkey)s?:\/\/[^/?#\s]+(\/\d{0,3})?$/.test(url) && URL.canParse(url) && isDecodable(url),
    "is not redis://user:password@host:6379/0, or rediss:// for TLS: percent-encode special characters in the password",
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
