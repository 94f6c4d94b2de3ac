import { initTRPC } from "@trpc/server";
import * as z from "zod";
import { requireAdmin } from "../auth/person.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import type { Context } from "./context.ts";
import { explainIssue } from "./explain-issue.ts";
import { toTrpcError } from "./to-trpc-error.ts";

// This setting is global, but the configuration's schemas have their own messages.
z.config({ customError: explainIssue });

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
        /** The path of the invalid input field, such as `limits.tokensPerMinute`. */
        param:
          ours?.param ?? (cause instanceof z.ZodError ? (cause.issues[0]?.path.join(".") ?? null) : null),
        retryAfterSeconds: ours?.retryAfterSeconds ?? null,
        /** Null unless the input's `revision` is outdated. */
        currentRevision: ours?.currentRevision ?? null,
        requestId: ctx?.requestId ?? null,
      },
    };
  },
});

export const router = t.router;

const withOurErrors = t.middleware(async ({ next, ctx, path }) => {
  const result = await next();
  if (result.ok) return result;
  // Other codes belong to tRPC's own errors, such as an invalid input.
  const { cause, code } = result.error;
  if (code !== "INTERNAL_SERVER_ERROR") return result;
  const error = toGatewayError(cause ?? result.error);
  if (error.code === "internal_error") {
    ctx.runtime.log.error(
      { requestId: ctx.requestId, procedure: path, error },
      "a procedure failed with an internal error",
    );
  }
  throw toTrpcError(error);
});

/** Requires no session. Only the `auth` router may use it. */
export const publicProcedure = t.procedure.use(withOurErrors);

export const procedure = publicProcedure.use(async ({ ctx, next }) => {
  if (ctx.accessToken === null)
    throw new GatewayError("unauthenticated", "You are not signed in. Sign in first.");
  const person = await ctx.services.sessions.authenticate(ctx.accessToken);
  return next({ ctx: { ...ctx, person: { ...person, address: ctx.address } } });
});

export const adminProcedure = procedure.use(({ ctx, next }) => {
  requireAdmin(ctx.person);
  return next({ ctx });
});
