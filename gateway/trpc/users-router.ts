import * as z from "zod";
import { formatJoinLink } from "../auth/invitation-service.ts";
import type { InvitedUser } from "../auth/user-service.ts";
import type { Context } from "./context.ts";
import { email, role } from "../auth/account-inputs.ts";
import { cursor, id, name, pageLimit, search } from "../inputs.ts";
import { procedure, procedureOfId, router } from "./trpc.ts";

export const usersRouter = router({
  list: procedure
    .input(z.strictObject({ search, cursor, limit: pageLimit }).default({ cursor: undefined }))
    .query(({ ctx, input }) => ctx.services.users.list(input)),

  get: procedureOfId.query(({ ctx, input }) => ctx.services.users.get(input.id)),

  /** Returns the link, which cannot be read again. */
  invite: procedure
    .input(z.strictObject({ name, email, role: role.default("member") }))
    .mutation(async ({ ctx, input }) => withLink(ctx, await ctx.services.users.invite(ctx.person, input))),

  resetPassword: procedureOfId.mutation(async ({ ctx, input }) =>
    withLink(ctx, await ctx.services.users.resetPassword(ctx.person, input.id)),
  ),

  setRole: procedure
    .input(z.strictObject({ id, role }))
    .mutation(({ ctx, input }) => ctx.services.users.setRole(ctx.person, input.id, input.role)),

  disable: procedure
    .input(z.strictObject({ id, teamKeys: z.enum(["hand-over", "stop"]).optional() }))
    .mutation(({ ctx, input }) => ctx.services.users.disable(ctx.person, input.id, input.teamKeys)),

  enable: procedureOfId.mutation(({ ctx, input }) => ctx.services.users.enable(ctx.person, input.id)),
});

function withLink({ publicUrl }: Context, { user, token, expiresAt }: InvitedUser) {
  return { user, link: formatJoinLink(publicUrl, token), expiresAt };
}
