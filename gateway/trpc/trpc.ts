import { initTRPC, TRPCError } from "@trpc/server";
import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import * as z from "zod";
import { requireAdmin } from "../auth/person.ts";
import { type ErrorCode, GatewayError, toGatewayError } from "../errors.ts";
import type { Context } from "./context.ts";

const t = initTRPC.context<Context>().create({
  isDev: false,
  errorFormatter({ shape, error, ctx }) {
    const { cause } = error;
    const ours = cause instanceof GatewayError ? cause : null;
    return {
      ...shape,
      message: cause instanceof z.ZodError ? z.prettifyError(cause) : shape.message,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        path: shape.data.path,
        /** The part of the input that is wrong. */
        param:
          ours?.param ?? (cause instanceof z.ZodError ? (cause.issues[0]?.path.join(".") ?? null) : null),
        retryAfterSeconds: ours?.retryAfterSeconds ?? null,
        /** Set where the input's `revision` is not the current one: somebody else was faster. */
        currentRevision: ours?.currentRevision ?? null,
        requestId: ctx?.requestId ?? null,
      },
    };
  },
});

export const router = t.router;

/** What becomes of each error on `/trpc`; every code has a line, or this does not compile. */
const table: Record<ErrorCode, TRPC_ERROR_CODE_KEY> = {
  missing_api_key: "UNAUTHORIZED",
  invalid_api_key: "UNAUTHORIZED",
  model_not_found: "NOT_FOUND",
  invalid_body: "BAD_REQUEST",
  missing_required_parameter: "BAD_REQUEST",
  invalid_type: "BAD_REQUEST",
  invalid_value: "BAD_REQUEST",
  unsupported_parameter: "BAD_REQUEST",
  request_too_large: "PAYLOAD_TOO_LARGE",
  request_timeout: "TIMEOUT",
  unsupported_encoding: "UNSUPPORTED_MEDIA_TYPE",
  unknown_url: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_SUPPORTED",
  rate_limit_exceeded: "TOO_MANY_REQUESTS",
  token_limit_exceeded: "TOO_MANY_REQUESTS",
  concurrency_limit_exceeded: "TOO_MANY_REQUESTS",
  insufficient_quota: "PAYMENT_REQUIRED",
  address_not_allowed: "UNAUTHORIZED",
  upstream_rejected: "BAD_GATEWAY",
  upstream_auth_failed: "BAD_GATEWAY",
  upstream_error: "BAD_GATEWAY",
  upstream_timeout: "GATEWAY_TIMEOUT",
  unauthenticated: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  too_many_attempts: "TOO_MANY_REQUESTS",
  service_unavailable: "SERVICE_UNAVAILABLE",
  internal_error: "INTERNAL_SERVER_ERROR",
};

const withOurErrors = t.middleware(async ({ next, ctx, path }) => {
  const result = await next();
  if (result.ok) return result;
  // Whatever tRPC or zod found wrong with the call has its code already.
  const { cause, code } = result.error;
  if (code !== "INTERNAL_SERVER_ERROR") return result;
  const error = toGatewayError(cause ?? result.error);
  if (error.code === "internal_error") {
    ctx.runtime.log.error(
      { requestId: ctx.requestId, procedure: path, error },
      "a procedure failed by a mistake of the gateway",
    );
  }
  throw new TRPCError({ code: table[error.code], message: error.message, cause: error });
});

/** For everybody. Only `auth` may use it: every other procedure begins with `procedure` or `adminProcedure`. */
export const publicProcedure = t.procedure.use(withOurErrors);

/** For whoever is signed in. */
export const procedure = publicProcedure.use(async ({ ctx, next }) => {
  if (ctx.accessToken === null) throw new GatewayError("unauthenticated", "Sign in first.");
  const person = await ctx.services.sessions.authenticate(ctx.accessToken);
  return next({ ctx: { ...ctx, person: { ...person, address: ctx.address } } });
});

/** For administrators. */
export const adminProcedure = procedure.use(({ ctx, next }) => {
  requireAdmin(ctx.person);
  return next({ ctx });
});
