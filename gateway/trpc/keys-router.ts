import * as z from "zod";
import { id, moment, name, slugs } from "./inputs.ts";
import { procedure, router } from "./trpc.ts";

const status = z.enum(["active", "disabled"]);
const overlapSeconds = z
  .int()
  .min(0)
  .max(7 * 24 * 60 * 60);

export const keysRouter = router({
  list: procedure
    .input(
      z
        .strictObject({
          search: z.string().max(255).optional(),
          status: status.optional(),
          cursor: id.nullish().transform((cursor) => cursor ?? undefined),
          limit: z.int().min(1).max(200).optional(),
        })
        .default({ cursor: undefined }),
    )
    .query(({ ctx, input }) => ctx.services.keys.list(ctx.person, input)),

  get: procedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.keys.get(ctx.person, input.id)),

  /** The value is in the answer and nowhere else, ever. */
  create: procedure
    .input(z.strictObject({ name, models: slugs.optional(), expiresAt: moment.nullish() }))
    .mutation(({ ctx, input }) => ctx.services.keys.create(ctx.person, input)),

  rename: procedure
    .input(z.strictObject({ id, name }))
    .mutation(({ ctx, input }) => ctx.services.keys.rename(ctx.person, input.id, input.name)),

  setModels: procedure
    .input(z.strictObject({ id, models: slugs }))
    .mutation(({ ctx, input }) => ctx.services.keys.setModels(ctx.person, input.id, input.models)),

  activate: procedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.keys.activate(ctx.person, input.id)),

  deactivate: procedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.keys.deactivate(ctx.person, input.id)),

  /** The old value goes on counting for `overlapSeconds`, a day unless it is said; 0 ends it at once. */
  rotate: procedure
    .input(z.strictObject({ id, overlapSeconds: overlapSeconds.default(24 * 60 * 60) }))
    .mutation(({ ctx, input }) => ctx.services.keys.rotate(ctx.person, input.id, input.overlapSeconds)),

  delete: procedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.keys.delete(ctx.person, input.id)),
});
