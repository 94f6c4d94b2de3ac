import { claimsToBeKeyValue } from "../keys/key-value.ts";
import { type TrustedProxies, clientAddressOf } from "../http/trusted-proxies.ts";
import {
  type AuthenticateKeyOptions,
  invalidApiKey,
  authenticateKey,
  type KnownKey,
} from "../keys/authenticate-key.ts";
import type { IncomingMessage } from "node:http";
import type { AnswerContext, ClientHeaders, Operation } from "../completions/operation.ts";
import { answerRequest } from "../completions/answer-request.ts";
import { Exchange, type OpenExchanges } from "../completions/exchange.ts";
import type { Reply } from "../completions/reply.ts";
import type { Dialect } from "../dialects/dialect.ts";
import { responses } from "../dialects/responses/responses.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import type { BodyBudget, BodyHolder, HeldBody } from "../http/body-budget.ts";
import { ClientGoneError, readBody } from "../http/read-body.ts";
import type { MemoryStore } from "../kept-responses/memory-store.ts";
import type { KeptResponses } from "../kept-responses/kept-responses.ts";
import type { UsageRecorder } from "../usage/recording/usage-recorder.ts";
import { endpoint, type EndpointContext, logServerError, type RequestHandler } from "./endpoint.ts";

export type ModelEndpointOptions = KeyOptions &
  AnswerContext & {
    recorder: UsageRecorder;
    openExchanges: OpenExchanges;
    bodyBudget: BodyBudget;
    keptResponses: KeptResponses | null;
    /** Keeps the recent responses of WebSockets. */
    memoryStore: MemoryStore;
  };

export function modelEndpoint(
  options: ModelEndpointOptions,
  operation: Operation,
  dialect: Dialect,
): RequestHandler {
  const { bodyBudget, keptResponses, limits } = options;
  return endpoint(
    options,
    async ({ request, response, id, reply, observed }) => {
      const { headers } = request;
      const known = knownKeyOf(options, request);
      const key = known instanceof Promise ? await known : known;
      const heldBody = bodyBudget.hold(bodyHolderOf(key));
      const exchange = openExchange(options, operation, { id, key, headers, reply, observed, heldBody });
      response.on("close", () => {
        if (!response.writableFinished) exchange.cancel();
      });
      try {
        checkAddress(options, key, request);
        const bytes = await readBody(request, limits.requestBodyBytesMax, heldBody);
        exchange.received();
        const findFollowUp =
          dialect === responses && keptResponses ? keptResponses.finderFor(key.id, bytes) : null;
        const answering = answerRequest(options, exchange, operation, {
          bytes,
          headers,
          heldBody,
          findFollowUp,
        });
        if (answering) await answering;
      } catch (thrown) {
        failExchange(options, exchange, thrown);
      }
    },
    dialect,
  );
}

type OpenedRequest = Pick<EndpointContext, "id" | "observed"> & {
  key: KnownKey;
  headers: ClientHeaders;
  reply: Reply;
  heldBody: HeldBody;
};

/** Throws `service_unavailable` while usage cannot be recorded. */
export function openExchange(
  { recorder, observer, openExchanges }: ModelEndpointOptions,
  { endpointName: endpoint }: Operation,
  { headers, ...request }: OpenedRequest,
): Exchange {
  if (recorder.isFull) throw usageCannotBeRecorded();
  const clientTool = findClientTool(headers);
  return new Exchange({ ...request, endpoint, clientTool, recorder, observer, openExchanges });
}

export function failExchange({ runtime }: ModelEndpointOptions, exchange: Exchange, thrown: unknown): void {
  if (thrown instanceof ClientGoneError) return exchange.cancel();
  const error = toGatewayError(thrown);
  logServerError(runtime.log, exchange.id, error);
  exchange.fail(error);
}

function usageCannotBeRecorded(): GatewayError {
  return new GatewayError(
    "service_unavailable",
    "The gateway temporarily cannot record usage. Retry in a few seconds.",
    { retryAfterSeconds: 5 },
  );
}

/**
 * Detects the client tool, for usage statistics only.
 * @param headers names in lower case
 */
export function findClientTool(headers: ClientHeaders): ClientTool | null {
  for (const [tool, name, pattern] of signs) {
    const value = headers[name];
    if (typeof value === "string" && value.length <= headerLengthMax && pattern.test(value)) return tool;
  }
  return null;
}

export type ClientTool = (typeof signs)[number][0];

/**
 * The first match counts. `x-title` comes first, because its senders may share their User-Agent with other
 * software. Most patterns were observed in November 2026. The marked patterns come from source code.
 */
const signs = [
  ["kilo-code", "x-title", /^Kilo Code$/],
  ["cline", "x-title", /^Cline$/], // from source code
  ["roo-code", "x-title", /^Roo Code$/], // from source code
  ["cherry-studio", "x-title", /^Cherry Studio$/], // from source code, sends the User-Agent of a browser

  ["claude-code", "user-agent", /^claude-(cli|code)\//],
  // Observed: `codex_exec` and `codex-tui`. Other names, such as `codex_cli_rs` and `codex_vscode`, come from
  // source code.
  ["codex", "user-agent", /^codex[_-][a-z_]+\//],
  ["opencode", "user-agent", /^opencode2?\//],
  ["kilo-code", "user-agent", /^(Kilo-Code|kilo)\//],
  ["qwen-code", "user-agent", /^QwenCode\//],
  ["pi", "user-agent", /^pi( \(|\/)/],
  ["kimi-code", "user-agent", /^kimi-code-[a-z]+\//],
  ["gemini-cli", "user-agent", /^GeminiCLI[-/]/],
  ["continue", "user-agent", /^ls\/JS /],
  ["grok-build", "user-agent", /^grok-(shell|pager|cli)\//],
  ["droid", "user-agent", /^factory-cli\//],
  // The setup configures the names from `aider` to `librechat`, because these tools would send only a library's name.
  ["aider", "user-agent", /^aider(\/|$)/],
  ["hermes-agent", "user-agent", /^hermes-agent(\/|$)/],
  ["mistral-vibe", "user-agent", /^mistral-vibe(\/|$)/],
  ["openclaw", "user-agent", /^openclaw(\/|$)/],
  ["goose", "user-agent", /^goose(\/|$)/], // from source code
  ["junie", "user-agent", /^junie(\/|$)/], // from source code
  ["open-webui", "user-agent", /^Open WebUI(\/|$)/], // from source code
  ["librechat", "user-agent", /^LibreChat(\/|$)/], // from source code
  ["vscode-copilot", "user-agent", /^GitHubCopilotChat\//], // from source code
  ["crush", "user-agent", /^Charm-Crush\//], // from source code
  ["roo-code", "user-agent", /^(RooCode|roo-code)\//], // from source code
  ["zed", "user-agent", /^Zed\//], // from source code

  ["copilot", "x-initiator", /^(user|agent)$/],
  // Other tools rarely combine this library with this runtime.
  ["cline", "user-agent", /^ai-sdk\/openai-compatible\/.* runtime\/bun\//],
] as const;

const headerLengthMax = 1_024;

/** Several keys of one person share a part of the memory for bodies. */
export function bodyHolderOf({ id, ownerId }: KnownKey): BodyHolder {
  return { person: ownerId ?? id, key: id };
}

export async function keyOf(options: KeyOptions, request: IncomingMessage): Promise<KnownKey> {
  const key = await knownKeyOf(options, request);
  checkAddress(options, key, request);
  return key;
}

/** The key of a request that calls no model, and counts against the key's rates only. */
export async function limitedKeyOf(
  options: KeyOptions & Pick<AnswerContext, "limiter">,
  request: IncomingMessage,
): Promise<KnownKey> {
  const key = await keyOf(options, request);
  await options.limiter.countRequest(key);
  return key;
}

export type KeyOptions = AuthenticateKeyOptions & { trustedProxies: TrustedProxies };

/** Uses the message for an invalid key, so that a thief of the key learns nothing about the allowed addresses. */
function checkAddress(
  { trustedProxies }: Pick<KeyOptions, "trustedProxies">,
  { limits }: KnownKey,
  request: IncomingMessage,
): void {
  if (!limits?.addressRanges || limits.addressRanges.has(clientAddressOf(request, trustedProxies))) return;
  throw new GatewayError("address_not_allowed", invalidApiKey().message);
}

/** Returns the request's key without an address check, and without a promise if the key is cached. */
function knownKeyOf(options: AuthenticateKeyOptions, request: IncomingMessage): KnownKey | Promise<KnownKey> {
  return authenticateKey(options, readKeyValue(request));
}

/**
 * Reads the key from a bearer token (RFC 6750) or `x-api-key` (Anthropic). Tools may send both, one of them
 * an old key of another vendor. The gateway's key then takes precedence.
 */
function readKeyValue(request: IncomingMessage): string | null {
  if (hasSeveralAuthorizations(request.rawHeaders)) {
    // Node reads the first header and a proxy perhaps the last, so they could check different keys.
    throw new GatewayError(
      "invalid_api_key",
      "The request has more than one Authorization header. Send only one.",
    );
  }
  const { authorization, "x-api-key": apiKey } = request.headers;
  const bearer = authorization === undefined ? null : readBearer(authorization);
  const other = typeof apiKey === "string" && apiKey !== "" ? apiKey : null;
  if (bearer !== null && other !== null && !claimsToBeKeyValue(bearer) && claimsToBeKeyValue(other))
    return other;
  return bearer ?? other;
}

/** Null for other schemes such as Basic. */
function readBearer(authorization: string): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

function hasSeveralAuthorizations(rawHeaders: string[]): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === authorizationLength && name.toLowerCase() === "authorization") count++;
  }
  return count > 1;
}

const authorizationLength = "authorization".length;
