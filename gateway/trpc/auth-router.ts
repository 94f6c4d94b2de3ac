import * as z from "zod";
import { describeUser, type Session } from "../auth/session-service.ts";
import { GatewayError } from "../errors.ts";
import type { Context } from "./context.ts";
import { email, linkToken, password } from "../auth/account-inputs.ts";
import { name } from "../inputs.ts";
import { procedure, publicProcedure, router } from "./trpc.ts";

export const authRouter = router({
  /** `setUp` is true once a user exists. */
  state: publicProcedure.query(async ({ ctx }) => ({ setUp: await ctx.services.accounts.isSetUp() })),

  /** Lets the console check the setup link before the user enters anything. */
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

  /** Returns a new access token, and sets the next refresh token in the cookie. */
  refresh: publicProcedure.mutation(async ({ ctx }) => {
    const token = ctx.refreshCookie.read();
    if (token === null) throw new GatewayError("unauthenticated", "You are not signed in. Sign in first.");
    try {
      return withCookie(ctx, await ctx.services.sessions.refresh(token));
    } catch (error) {
      if (error instanceof GatewayError && error.code === "unauthenticated") ctx.refreshCookie.clear();
      throw error;
    }
  }),

  /** Needs no access token, because the cookie identifies the session. */
  signOut: publicProcedure.mutation(async ({ ctx }) => {
    const token = ctx.refreshCookie.read();
    ctx.refreshCookie.clear();
    if (token !== null) await ctx.services.sessions.end(token, ctx.address);
  }),

  signOutEverywhere: procedure.mutation(async ({ ctx }) => {
    await ctx.services.sessions.endAll(ctx.person);
    ctx.refreshCookie.clear();
  }),

  invitation: publicProcedure
    .input(z.strictObject({ token: linkToken }))
    .query(({ ctx, input }) => ctx.services.invitations.find(input.token)),

  /** Deletes the link, sets the name and password, and signs the user in. */
  join: publicProcedure
    .input(z.strictObject({ token: linkToken, name, password }))
    .mutation(async ({ ctx, input: { token, ...account } }) =>
      withCookie(ctx, await ctx.services.invitations.join(token, account, ctx.address)),
    ),

  me: procedure.query(({ ctx }) => describeUser(ctx.person)),

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
