import { auditRouter } from "./audit-router.ts";
import { authRouter } from "./auth-router.ts";
import { gatewayRouter } from "./gateway-router.ts";
import { keysRouter } from "./keys-router.ts";
import { modelsRouter } from "./models-router.ts";
import { overviewRouter } from "./overview-router.ts";
import { providersRouter } from "./providers-router.ts";
import { router } from "./trpc.ts";
import { usersRouter } from "./users-router.ts";

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
