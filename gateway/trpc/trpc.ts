import * as z from "zod";
import { initTRPC } from "@trpc/server";
import { requirePermission } from "../auth/permissions.ts";
import { GatewayError, toGatewayError } from "../errors.ts";
import { id } from "../inputs.ts";
import { type Context, toTrpcError } from "./context.ts";

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

/** Requires a session, and a rule for the procedure's path in `auth/permissions.ts`. */
export const procedure = publicProcedure.use(async ({ ctx, path, next }) => {
  if (ctx.accessToken === null)
    throw new GatewayError("unauthenticated", "You are not signed in. Sign in first.");
  const person = await ctx.services.sessions.authenticate(ctx.accessToken);
  requirePermission(person, path);
  return next({ ctx: { ...ctx, person: { ...person, address: ctx.address } } });
});

export const procedureOfId = procedure.input(z.strictObject({ id }));

type Issue = z.core.$ZodRawIssue;

/** The error message for an input whose schema has no message of its own. */
function explainIssue(issue: Issue): string {
  const path = issue.path?.join(".") ?? "";
  const field = path === "" ? "The input" : `The field '${path}'`;
  switch (issue.code) {
    case "invalid_type":
      return `${field} ${isWhat(issue.input)}. Send ${typeNames[issue.expected] ?? "another value"}.`;
    case "invalid_value":
      return `${field} ${isWhat(issue.input, "quoted")}. Use ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}.`;
    case "too_big":
      return `${field} ${hasSize(issue.input)}. Use at most ${issue.maximum}.`;
    case "too_small":
      return `${field} ${hasSize(issue.input)}. Use at least ${issue.minimum}.`;
    case "unrecognized_keys":
      return `${field} contains an unknown field: '${issue.keys[0]?.slice(0, shownLengthMax)}'. Remove the field.`;
    case "invalid_union":
      return closestIssue(issue.errors)?.message ?? `${field} has an invalid structure. Check its fields.`;
    default:
      return `${field} is invalid. Check its format.`;
  }
}

const shownLengthMax = 60;

const typeNames: Record<string, string> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  string: "a string",
};

/** @param texts `quoted` for a field with a fixed list of values, whose input is unlikely to be a secret */
function isWhat(input: unknown, texts: "hidden" | "quoted" = "hidden"): string {
  if (input === undefined) return "is missing";
  if (typeof input === "string")
    return texts === "quoted" ? `is "${input.slice(0, shownLengthMax)}"` : "is a string";
  if (Array.isArray(input)) return "is a list";
  return typeof input === "object" && input !== null ? "is an object" : `is ${String(input)}`;
}

function hasSize(input: unknown): string {
  if (typeof input === "string") return `has ${input.length} characters`;
  return Array.isArray(input) ? `has ${input.length} entries` : `is ${String(input)}`;
}

/** The first issue of the union member with the fewest issues. */
function closestIssue(forms: readonly z.core.$ZodIssue[][]): z.core.$ZodIssue | undefined {
  return forms.toSorted((a, b) => a.length - b.length)[0]?.[0];
}
