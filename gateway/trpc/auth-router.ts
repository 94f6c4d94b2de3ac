import * as z from "zod";
import type { Session } from "../auth/session-service.ts";
import { GatewayError } from "../errors.ts";
import type { Context } from "./context.ts";
import { email, linkToken, name, password } from "./inputs.ts";
import { procedure, publicProcedure, router } from "./trpc.ts";

export const authRouter = router({
  /** Whether there is an administrator. */
  state: publicProcedure.query(async ({ ctx }) => ({ setUp: await ctx.services.accounts.isSetUp() })),

  /** Whether the link for the first administrator is the right one, before anybody fills the form in. */
  setUpToken: publicProcedure
    .input(z.strictObject({ token: linkToken }))
    .query(({ ctx, input }) => ({ isRight: ctx.services.accounts.isSetUpToken(input.token) })),

  setUp: publicProcedure
    .input(z.strictObject({ token: linkToken, name, email, password }))
    .mutation(async ({ ctx, input: { token, ...account } }) =>
      withCookie(ctx, await ctx.services.accounts.setUp(token, account, ctx.address)),
    ),

  signIn: publicProcedure
    .input(z.strictObject({ email: z.string().max(254), password: z.string().max(256) }))
    .mutation(async ({ ctx, input }) =>
      withCookie(ctx, await ctx.services.accounts.signIn(input.email, input.password, ctx.address)),
    ),

  /** A new access token, and the next refresh token, for the cookie's. */
  refresh: publicProcedure.mutation(async ({ ctx }) => {
    const token = ctx.refreshCookie.read();
    if (token === null) throw new GatewayError("unauthenticated", "You are not signed in.");
    try {
      return withCookie(ctx, await ctx.services.sessions.refresh(token));
    } catch (error) {
      if (error instanceof GatewayError && error.code === "unauthenticated") ctx.refreshCookie.clear();
      throw error;
    }
  }),

  /** Works with an expired access token too: the cookie is what is given back. */
  signOut: publicProcedure.mutation(async ({ ctx }) => {
    const token = ctx.refreshCookie.read();
    ctx.refreshCookie.clear();
    if (token !== null) await ctx.services.sessions.end(token, ctx.address);
  }),

  /** Ends every session of the person, this one too. */
  signOutEverywhere: procedure.mutation(async ({ ctx }) => {
    await ctx.services.sessions.endAll(ctx.person);
    ctx.refreshCookie.clear();
  }),

  /** Whom the link of an invitation, or for a new password, is for. */
  invitation: publicProcedure
    .input(z.strictObject({ token: linkToken }))
    .query(({ ctx, input }) => ctx.services.invitations.find(input.token)),

  /** Uses such a link up: the person has a password now, and is signed in. */
  join: publicProcedure
    .input(z.strictObject({ token: linkToken, name, password }))
    .mutation(async ({ ctx, input: { token, ...account } }) =>
      withCookie(ctx, await ctx.services.invitations.join(token, account, ctx.address)),
    ),

  /** Whoever is signed in, as they are now. */
  me: procedure.query(({ ctx: { person } }) => {
    const { id, email: address, name: called, role } = person;
    return { id, name: called, email: address, role };
  }),

  rename: procedure
    .input(z.strictObject({ name }))
    .mutation(({ ctx, input }) => ctx.services.accounts.rename(ctx.person, input.name)),

  changePassword: procedure
    .input(z.strictObject({ currentPassword: z.string().max(256), newPassword: password }))
    .mutation(({ ctx, input }) =>
      ctx.services.accounts.changePassword(ctx.person, input.currentPassword, input.newPassword),
    ),
});

function withCookie(ctx: Context, { accessToken, expiresAt, user, refreshToken }: Session) {
  ctx.refreshCookie.set(refreshToken);
  return { accessToken, expiresAt, user };
}
