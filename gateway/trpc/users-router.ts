import * as z from "zod";
import { formatJoinLink } from "../auth/invitation-service.ts";
import type { InvitedUser } from "../auth/user-service.ts";
import type { Context } from "./context.ts";
import { cursor, email, id, name, pageLimit, search } from "./inputs.ts";
import { adminProcedure, router } from "./trpc.ts";

const role = z.enum(["admin", "member"]);

export const usersRouter = router({
  list: adminProcedure
    .input(z.strictObject({ search, cursor, limit: pageLimit }).default({ cursor: undefined }))
    .query(({ ctx, input }) => ctx.services.users.list(input)),

  get: adminProcedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.users.get(input.id)),

  /** Returns the link, which cannot be read again. */
  invite: adminProcedure
    .input(z.strictObject({ name, email, role: role.default("member") }))
    .mutation(async ({ ctx, input }) => withLink(ctx, await ctx.services.users.invite(ctx.person, input))),

  resetPassword: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(async ({ ctx, input }) =>
      withLink(ctx, await ctx.services.users.resetPassword(ctx.person, input.id)),
    ),

  setRole: adminProcedure
    .input(z.strictObject({ id, role }))
    .mutation(({ ctx, input }) => ctx.services.users.setRole(ctx.person, input.id, input.role)),

  disable: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.users.disable(ctx.person, input.id)),

  enable: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.users.enable(ctx.person, input.id)),
});

function withLink({ publicUrl }: Context, { user, token, expiresAt }: InvitedUser) {
  return { user, link: formatJoinLink(publicUrl, token), expiresAt };
}
