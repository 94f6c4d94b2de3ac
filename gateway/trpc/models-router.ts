import * as z from "zod";
import { id, prices, slug, tokens } from "./inputs.ts";
import { adminProcedure, procedure, router } from "./trpc.ts";

const changes = {
  upstreamModel: z.string().trim().min(1).max(255).optional(),
  prices: prices.optional(),
  contextWindow: tokens.optional(),
  outputTokensMax: tokens.optional(),
};

/** A model is known by its id and by its slug. */
const reference = z.union([z.strictObject({ id }), z.strictObject({ slug })]);

export const modelsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.models.list()),

  get: procedure.input(reference).query(({ ctx, input }) => ctx.services.models.get(input)),

  create: adminProcedure
    .input(z.strictObject({ slug, providerId: id, ...changes }))
    .mutation(({ ctx, input }) => ctx.services.models.create(input)),

  update: adminProcedure
    .input(z.union([z.strictObject({ id, ...changes }), z.strictObject({ slug, ...changes })]))
    .mutation(({ ctx, input }) =>
      ctx.services.models.update("id" in input ? { id: input.id } : { slug: input.slug }, input),
    ),

  delete: adminProcedure.input(reference).mutation(({ ctx, input }) => ctx.services.models.delete(input)),
});
