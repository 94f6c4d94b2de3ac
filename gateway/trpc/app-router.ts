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
  /** Client settings. `publicUrl` is null unless configured: the page's own URL then applies. */
  info: procedure.query(({ ctx }) => ({ publicUrl: ctx.configuredUrl, version: packageJson.version })),
});

/** The console's first page. */
const overviewRouter = router({
  /** The completed onboarding steps. The page hides them. */
  onboarding: procedure.query(({ ctx }) => ctx.services.onboarding.steps(ctx.person)),

  /** The last 24 hours by hour, compared with the previous day. Members see only their own keys. */
  get: procedure.query(({ ctx }) => readOverview(ctx.services.usageHistory, ctx.person, ctx.runtime.now())),

  /** The spending of budgets for all keys of the user and for the whole gateway. */
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
