import { procedure, router } from "./trpc.ts";

export const overviewRouter = router({
  /** What a newcomer has done already: the next steps go away as they are taken. */
  onboarding: procedure.query(({ ctx }) => ctx.services.onboarding.steps(ctx.person)),
});
