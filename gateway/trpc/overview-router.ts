import * as z from "zod";
import {
  forecastSpending,
  readTopUsage,
  overviewPeriods,
  readOverview,
} from "../usage/history/usage-overview.ts";
import { procedure, router } from "./trpc.ts";

const period = z.enum(Object.keys(overviewPeriods) as (keyof typeof overviewPeriods)[]).default("24h");
const ofPeriod = z.strictObject({ period }).default({ period: "24h" });

export const overviewRouter = router({
  onboarding: procedure.query(({ ctx }) => ctx.services.usageHistory.onboarding(ctx.person)),

  get: procedure
    .input(ofPeriod)
    .query(({ ctx, input }) =>
      readOverview(ctx.services.usageHistory, ctx.person, { ...input, now: ctx.runtime.now() }),
    ),

  top: procedure
    .input(ofPeriod)
    .query(({ ctx, input }) =>
      readTopUsage(ctx.services.usageHistory, ctx.person, { ...input, now: ctx.runtime.now() }),
    ),

  spending: procedure.query(({ ctx }) =>
    forecastSpending(ctx.services.usageHistory, ctx.person, ctx.runtime.now()),
  ),

  /** Active keys that expire soon, have spent most of a budget, or were never used. */
  keys: procedure.query(({ ctx }) => ctx.services.keyUsage.attention(ctx.person)),

  /** The shared budgets: the user's and, for administrators, the gateway's. */
  budgets: procedure.query(({ ctx }) => ctx.services.budgets.sharedUses(ctx.person)),
});
