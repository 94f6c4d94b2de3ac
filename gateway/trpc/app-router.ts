import packageJson from "../../package.json" with { type: "json" };
import { auditRouter } from "./audit-router.ts";
import { authRouter } from "./auth-router.ts";
import { keysRouter } from "./keys-router.ts";
import { limitsRouter } from "./limits-router.ts";
import { modelsRouter } from "./models-router.ts";
import { providersRouter } from "./providers-router.ts";
import { overviewRouter } from "./overview-router.ts";
import { procedure, router } from "./trpc.ts";
import { teamsRouter } from "./teams-router.ts";
import { usersRouter } from "./users-router.ts";

const gatewayRouter = router({
  /** `publicUrl` is null unless configured. Without it, the console uses the origin of its own page. */
  info: procedure.query(({ ctx }) => ({ publicUrl: ctx.configuredUrl, version: packageJson.version })),
});

export const appRouter = router({
  audit: auditRouter,
  auth: authRouter,
  gateway: gatewayRouter,
  keys: keysRouter,
  limits: limitsRouter,
  models: modelsRouter,
  overview: overviewRouter,
  providers: providersRouter,
  teams: teamsRouter,
  users: usersRouter,
});

export type AppRouter = typeof appRouter;
