import { authRouter } from "./auth-router.ts";
import { keysRouter } from "./keys-router.ts";
import { modelsRouter } from "./models-router.ts";
import { providersRouter } from "./providers-router.ts";
import { router } from "./trpc.ts";

/** The console's API. */
export const appRouter = router({
  auth: authRouter,
  keys: keysRouter,
  models: modelsRouter,
  providers: providersRouter,
});

export type AppRouter = typeof appRouter;
