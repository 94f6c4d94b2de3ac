import { readOverview } from "../usage/history/usage-overview.ts";
import { procedure, router } from "./trpc.ts";

/** What the console shows first. */
export const overviewRouter = router({
  /** What a newcomer has done already: the next steps go away as they are taken. */
  onboarding: procedure.query(({ ctx }) => ctx.services.onboarding.steps(ctx.person)),

  /** The last 24 hours, by the hour, compared with the day before; of a member's own keys for a member. */
  get: procedure.query(({ ctx }) => readOverview(ctx.services.usageHistory, ctx.person, ctx.runtime.now())),

  /** What is spent of the budgets that the environment gives to all keys of whoever asks, and to the whole gateway. */
  budgets: procedure.query(({ ctx }) => ctx.services.budgets.sharedUses(ctx.person)),
});
