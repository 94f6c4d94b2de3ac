import * as z from "zod";
import { forecastSpending } from "../usage/history/spending-forecast.ts";
import { readTopUsage } from "../usage/history/top-usage.ts";
import { overviewPeriods, readOverview } from "../usage/history/usage-overview.ts";
import { procedure, router } from "./trpc.ts";

const period = z.enum(Object.keys(overviewPeriods) as (keyof typeof overviewPeriods)[]).default("24h");
const ofPeriod = z.strictObject({ period }).default({ period: "24h" });

/** The console's first page. Members see only their own keys. */
export const overviewRouter = router({
  /** Returns the completed steps, which the page hides. */
  onboarding: procedure.query(({ ctx }) => ctx.services.onboarding.steps(ctx.person)),

  /** The period by hour or day, compared with the period before. */
  get: procedure
    .input(ofPeriod)
    .query(({ ctx, input }) =>
      readOverview(ctx.services.usageHistory, ctx.person, { ...input, now: ctx.runtime.now() }),
    ),

  /** The five largest keys, models, people and error reasons of the period. */
  top: procedure
    .input(ofPeriod)
    .query(({ ctx, input }) =>
      readTopUsage(ctx.services.usageHistory, ctx.person, { ...input, now: ctx.runtime.now() }),
    ),

  /** This month's cost to date, last month's cost, and a forecast. */
  spending: procedure.query(({ ctx }) =>
    forecastSpending(ctx.services.usageHistory, ctx.person, ctx.runtime.now()),
  ),

  /** The keys that expire soon, that have spent most of a budget, or that were never used. */
  keys: procedure.query(({ ctx }) => ctx.services.keyUsage.attention(ctx.person)),

  /** The shared budgets: the user's and, for administrators, the gateway's. */
  budgets: procedure.query(({ ctx }) => ctx.services.budgets.sharedUses(ctx.person)),
});
