import type { BodyLimits } from "../dialects/parse-body.ts";
import type { Settings } from "../config/variables.ts";
import type { KeptAnswer } from "../dialects/dialect.ts";
import type { GatewayError } from "../errors.ts";
import type { Limiter } from "../limits/rates/limiter.ts";
import type { EndpointName } from "../providers/provider.ts";
import type { Attempt, AttemptsOptions } from "../routing/attempts.ts";
import type { Catalogue } from "../routing/catalogue.ts";
import type { PrivateAddressWarnings } from "../routing/private-address-warnings.ts";
import type { RecordedModelNames } from "../routing/recorded-model-names.ts";
import type { RequestObserver } from "../usage/request-observer.ts";
import type { UsableCandidate } from "../routing/candidate.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import type { Exchange } from "./exchange.ts";

/** The part of a request that depends on its endpoint: reading the body, and preparing an attempt. */
export type Operation<Request extends ModelRequest = ModelRequest> = {
  /** The endpoint in usage records. */
  endpointName: EndpointName;
  /** The operation's name in OpenTelemetry's conventions. */
  telemetryName: string;
  /**
   * Throws a `GatewayError` for an invalid request.
   * @param contentType the client's header, which describes a body other than JSON
   */
  read(bytes: Buffer, limits: BodyLimits, contentType: string | null): Request;
  /** Estimates what the upstream did not report. May parse the body. */
  estimateInputTokens(request: Request): number;
  /** Throws a `GatewayError` if the candidate cannot serve the request. */
  prepare(call: ModelCall<Request>, candidate: UsableCandidate): Attempt;
};

export type ModelRequest = {
  /** The first read of the body may parse the bytes. */
  readonly body: Record<string, unknown>;
  model: string;
  stream: boolean;
  /** The number of bytes that count as text. Undefined if all do. */
  textBytes?: number;
};

export type ModelCall<Request extends ModelRequest = ModelRequest> = {
  context: { limits: Settings; upstreams: Upstreams; keptResponses: ResponseKeeper | null };
  exchange: Exchange;
  request: Request;
  /** Names in lower case. */
  headers: ClientHeaders;
  followUp: FollowUp | null;
};

/** A request that refers to earlier responses. */
export type FollowUp = {
  /** The size of the joined body, which the limits count before anything is joined. */
  bytesLength: number;
  previousResponseId: string | null;
  /** The error for a response or item that is not kept. Native requests ignore it, because the upstream may keep it. */
  missing: GatewayError | null;
  /** The part of the joined body that was kept. */
  kept: KeptConversation;
  /** The body with the kept items in place of their references. */
  join(): Buffer;
};

/** `tokens` is what the upstream reported for the earlier response. Null if unknown. */
export type KeptConversation = Readonly<{ bytes: number; tokens: number | null }>;

type ResponseKeeper = {
  /** Returns whether the response is kept. */
  keep(keyId: string, answer: KeptAnswer, input: unknown): boolean;
};

export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

export type AnswerContext = {
  catalogue: Catalogue;
  recordedModelNames: RecordedModelNames;
  upstreams: Upstreams;
  attempts: AttemptsOptions;
  limits: Settings;
  limiter: Pick<Limiter, "admit" | "check" | "countRequest">;
  privateAddressWarnings: Pick<PrivateAddressWarnings, "warn">;
  observer: RequestObserver | null;
  keptResponses: ResponseKeeper | null;
};

export type ReceivedRequest = {
  bytes: Buffer;
  headers: ClientHeaders;
  /** Holds the memory of the joined body. */
  heldBody: { add(bytes: number): void };
  /** Finds the kept responses that the body refers to. Null if it cannot refer to any. */
  findFollowUp: (() => Promise<FollowUp | null>) | null;
};
