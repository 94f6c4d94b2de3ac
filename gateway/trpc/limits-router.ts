import * as z from "zod";
import { id } from "../inputs.ts";
import { limitChanges, payerChanges } from "../limits/limit-inputs.ts";
import { procedure, router } from "./trpc.ts";

/** `gateway`, `people`, `keys`, or the ID of a user or team. */
const holder = id;

/** 0 for limits that nobody has set yet. */
const revision = z.int().min(0).optional();

export const limitsRouter = router({
  /** Members see only their own limits and those of their teams. */
  get: procedure
    .input(z.strictObject({ holder }))
    .query(({ ctx, input }) => ctx.services.holderLimits.get(ctx.person, input.holder)),

  /** Null removes a limit, so that the default applies. Missing limits keep their value. */
  set: procedure
    .input(z.strictObject({ holder, limits: limitChanges.optional(), ...payerChanges, revision }))
    .mutation(({ ctx, input }) => ctx.services.holderLimits.set(ctx.person, input)),
});
