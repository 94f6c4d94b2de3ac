import packageJson from "../../package.json" with { type: "json" };
import { readOverview } from "../usage/history/usage-overview.ts";
import { auditRouter } from "./audit-router.ts";
import { authRouter } from "./auth-router.ts";
import { keysRouter } from "./keys-router.ts";
import { modelsRouter } from "./models-router.ts";
import { providersRouter } from "./providers-router.ts";
import { procedure, router } from "./trpc.ts";
import { usersRouter } from "./users-router.ts";

const gatewayRouter = router({
  /** What clients need of this gateway. `publicUrl` is null where it is not configured: then it is the page's own. */
  info: procedure.query(({ ctx }) => ({ publicUrl: ctx.configuredUrl, version: packageJson.version })),
});

/** The console's first page. */
const overviewRouter = router({
  /** The first steps that are done already. The page hides them. */
  onboarding: procedure.query(({ ctx }) => ctx.services.onboarding.steps(ctx.person)),

  /** The last 24 hours, by the hour, compared with the day before; of a member's own keys for a member. */
  get: procedure.query(({ ctx }) => readOverview(ctx.services.usageHistory, ctx.person, ctx.runtime.now())),

  /** What is spent of the budgets that the environment gives to all keys of the person, and to the whole gateway. */
  budgets: procedure.query(({ ctx }) => ctx.services.budgets.sharedUses(ctx.person)),
});

/** The console's API. */
export const appRouter = router({
  audit: auditRouter,
  auth: authRouter,
  gateway: gatewayRouter,
  keys: keysRouter,
  models: modelsRouter,
  overview: overviewRouter,
  providers: providersRouter,
  users: usersRouter,
});

export type AppRouter = typeof appRouter;
