import type { CredentialRow, ProviderRow } from "../../db/entities/provider.ts";
import type { SecretBox } from "../credentials/secret-box.ts";
import { GatewayError } from "../errors.ts";
import { findPreset, findProvider } from "../providers/registry.ts";
import type { CheckedSettings } from "./provider-settings.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { openCredential } from "../credentials/credential.ts";
import type { Provider, ProviderSettings, UpstreamApi } from "../providers/provider.ts";
import { collectAnswer, type CollectedAnswer } from "../upstream/collect-answer.ts";
import { explainFailure } from "../upstream/upstream-failure.ts";
import { parseJson, isObject } from "../wire/json.ts";
import { holdsSecret } from "../upstream/hide-secret.ts";

export type ProviderTest = Finding & { credentials: (Finding & { id: string; lastFour: string })[] };

type Finding = { ok: boolean; message: string; latencyMs: number; modelCount: number };

type ProbeOptions = { secretBox: SecretBox; upstreams: Upstreams };

/** Calls the upstream with each of the provider's credentials, or once if the provider has none. */
export async function testProvider(
  row: ProviderRow,
  credentials: CredentialRow[],
  options: ProbeOptions,
): Promise<ProviderTest> {
  if (credentials.length === 0) {
    return { ...toFinding(await probe(row, null, options)), credentials: [] };
  }
  const findings = await Promise.all(
    credentials.map(async (credential) => {
      const { id, lastFour } = credential;
      return { id, lastFour, ...toFinding(await probe(row, credential, options)) };
    }),
  );
  return { ...summarize(findings), credentials: findings };
}

/** Tries the credentials until one works. Returns the last failure if none works. */
export async function listUpstreamModels(
  row: ProviderRow,
  credentials: CredentialRow[],
  options: ProbeOptions,
): Promise<ProviderVerdict> {
  const [first = null, ...others] = credentials;
  let verdict = await probe(row, first, options);
  for (const credential of others) {
    if (verdict.ok) break;
    verdict = await probe(row, credential, options);
  }
  return verdict;
}

/**
 * Throws `invalid_value` for a base URL without a path if the upstream answers only below `/v1`. Such URLs are rare, so
 * other creations need no upstream.
 */
export async function checkVersionPath(
  { kind, preset, baseUrl }: CheckedSettings,
  secret: string | null,
  upstreams: Upstreams,
): Promise<void> {
  if (baseUrl === null || new URL(baseUrl).pathname !== "/") return;
  if (baseUrl === findPreset(kind, preset)?.baseUrl) return;
  const provider = findProvider(kind);
  if (provider.versionPath === undefined) return;
  const { missingPath } = await probeProvider(
    provider,
    { baseUrl, secret, preset },
    upstreams,
    briefTimeouts,
  );
  if (missingPath === null) return;
  const message = `The base URL lacks ${missingPath}. Add ${missingPath} to the base URL.`;
  throw new GatewayError("invalid_value", message, { param: "baseUrl" });
}

async function probe(
  row: ProviderRow,
  credential: CredentialRow | null,
  { secretBox, upstreams }: ProbeOptions,
): Promise<ProviderVerdict> {
  try {
    const secret = credential && openCredential(secretBox, credential);
    const settings = { baseUrl: row.baseUrl ?? "", secret, preset: row.preset };
    return await probeProvider(findProvider(row.kind), settings, upstreams);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { ok: false, message: error.message, latencyMs: 0, models: [], missingPath: null };
  }
}

function summarize(findings: (Finding & { lastFour: string })[]): Finding {
  const failed = findings.filter(({ ok }) => !ok);
  const latencyMs = Math.max(...findings.map((finding) => finding.latencyMs));
  const modelCount = Math.max(...findings.map((finding) => finding.modelCount));
  const [first] = failed;
  const count = findings.length;
  const message =
    count === 1 || new Set(findings.map((finding) => finding.message)).size === 1
      ? (findings[0]?.message ?? "")
      : first
        ? `${failed.length} of ${count} keys failed${failed.length === 1 ? ` (…${first.lastFour})` : `. The first is …${first.lastFour}`}: ${first.message}`
        : `All ${count} keys work. Responded in ${latencyMs} ms, ${modelCount} ${modelCount === 1 ? "model" : "models"}.`;
  return { ok: failed.length === 0, message, latencyMs, modelCount };
}

function toFinding({ ok, message, latencyMs, models }: ProviderVerdict): Finding {
  return { ok, message, latencyMs, modelCount: models.length };
}

type ProviderVerdict = {
  ok: boolean;
  message: string;
  latencyMs: number;
  /** Empty after a failure, and for an upstream that does not list its models. */
  models: string[];
  /** The provider's `versionPath`, if the upstream answers only with that path after the base URL. */
  missingPath: string | null;
};

/** The model list is free, and tests address and credential. Throws `invalid_value` for invalid settings. */
async function probeProvider(
  provider: Provider,
  settings: ProviderSettings,
  upstreams: Upstreams,
  timeouts = testTimeouts,
): Promise<ProviderVerdict> {
  const api = provider.connect(settings);
  const startedAt = performance.now();
  const { names: finding, isElsewhere } = await fetchNames(api, upstreams, timeouts);
  const latencyMs = Math.round(performance.now() - startedAt);
  if (typeof finding === "string") {
    const missingPath = isElsewhere ? await findMissingPath(provider, settings, upstreams, timeouts) : null;
    const message =
      missingPath === null
        ? finding
        : `${api.modelsEndpoint.path} does not exist. Add ${missingPath} to the base URL.`;
    return { ok: false, message, latencyMs, models: [], missingPath };
  }
  const count = `${finding.length} ${finding.length === 1 ? "model" : "models"}`;
  const message = api.modelsEndpoint.answer
    ? "Built in: no connection needed."
    : `Responded in ${latencyMs} ms, ${count}.`;
  return { ok: true, message, latencyMs, models: finding, missingPath: null };
}

/** Returns the version's path if the upstream has a model list below that path. */
async function findMissingPath(
  { versionPath, connect }: Provider,
  settings: ProviderSettings,
  upstreams: Upstreams,
  timeouts: Timeouts,
): Promise<string | null> {
  const url = new URL(settings.baseUrl);
  if (versionPath === undefined || /\/v\d/.test(url.pathname)) return null;
  url.pathname = url.pathname.replace(/\/*$/, versionPath);
  const { names, isKeyRefused } = await fetchNames(
    connect({ ...settings, baseUrl: url.href }),
    upstreams,
    timeouts,
  );
  return typeof names !== "string" || isKeyRefused ? versionPath : null;
}

type Listing = {
  /** The model names, or an explanation of the failure. */
  names: string[] | string;
  /** Whether the path does not exist or is a web page. */
  isElsewhere?: boolean;
  isKeyRefused?: boolean;
};

async function fetchNames(api: UpstreamApi, upstreams: Upstreams, timeouts: Timeouts): Promise<Listing> {
  const { modelsEndpoint } = api;
  try {
    return readAnswer(
      api,
      await collectAnswer(upstreams, modelsEndpoint, { timeouts, bytesMax: listBytesMax }),
    );
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { names: explainFailure(error, modelsEndpoint.origin) };
  }
}

function readAnswer(api: UpstreamApi, { status: given, headers, body }: CollectedAnswer): Listing {
  const { modelsEndpoint } = api;
  const json = parseJson(body.toString("utf8"));
  if (given !== 200) {
    const status = api.effectiveStatus?.(given, json) ?? given;
    return {
      names: explainRefusal(status, json, modelsEndpoint),
      isElsewhere: status === 404 || status === 405,
      isKeyRefused: status === 401 || status === 403,
    };
  }
  const names = json === null ? null : api.readModelNames(json);
  if (names !== null) return { names };
  const isPage =
    /html/i.test(String(headers["content-type"])) ||
    /^\s*<(?:!doctype|html)/i.test(body.toString("utf8", 0, 200));
  const what = isPage ? "a web page" : "not a model list";
  return {
    names: `The response from ${modelsEndpoint.path} is ${what}. Check the base URL.`,
    isElsewhere: isPage,
  };
}

type Timeouts = typeof testTimeouts;

const testTimeouts = {
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  totalTimeoutMs: 20_000,
};
/** A creation succeeds without an answer, so it does not wait long for one. */
const briefTimeouts: Timeouts = {
  connectTimeoutMs: 1_000,
  firstByteTimeoutMs: 2_000,
  idleTimeoutMs: 2_000,
  totalTimeoutMs: 3_000,
};
const listBytesMax = 8 * 1024 * 1024;

/** @param body the response's JSON, or null */
export function explainRefusal(status: number, body: unknown, { path, secret }: RefusedCall): string {
  const quoted = quote(body, secret);
  const said = `HTTP status ${status}${quoted}`;
  if (status === 401 || status === 403) {
    return secret === null
      ? `The provider requires a key (HTTP status ${status}). Add a key.`
      : `The provider rejected the key (HTTP status ${status}). Check the key.`;
  }
  if (status === 404 || status === 405) {
    return `${path} does not exist (HTTP status ${status}). Check the base URL, which often ends in /v1.`;
  }
  if (status >= 300 && status < 400) {
    return `The provider returned a redirect (HTTP status ${status}), which the gateway does not follow. Check the base URL.`;
  }
  if (status === 402)
    return `The provider accepted the key, but the account has insufficient funds (${said}). Add funds at the provider.`;
  if (status === 429)
    return `The provider accepted the key, but its rate limit is reached (${said}). Retry later.`;
  if (status >= 500) return `The provider failed (${said}). Retry later.`;
  return `The provider returned HTTP status ${status} for ${path}${quoted}. Check the base URL and the key.`;
}

type RefusedCall = { path: string; secret: string | null };

/** The upstream's own message, if it is short, plain and free of the credential. */
function quote(body: unknown, secret: string | null): string {
  const text = messageIn(body)?.trim() ?? "";
  const isPlain = text !== "" && text.length <= quoteLengthMax && /^[^\p{Cc}<>]+$/u.test(text);
  const isSafe = secret === null || !holdsSecret(text, secret, pieceLength);
  return isPlain && isSafe ? `: ${text.replace(/\.$/, "")}` : "";
}

const quoteLengthMax = 200;

function messageIn(body: unknown): string | undefined {
  if (!isObject(body)) return undefined;
  const error = body["error"];
  const candidates = [isObject(error) ? error["message"] : error, body["message"], body["detail"]];
  return candidates.find((candidate) => typeof candidate === "string");
}

/** Upstreams quote parts of keys, as in `sk-pr***ABCD`, so even a few characters suppress the message. */
const pieceLength = 4;
