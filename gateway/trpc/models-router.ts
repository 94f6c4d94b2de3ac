import * as z from "zod";
import { fallbacks, id, prices, slug, tokens, upstreamModel } from "./inputs.ts";
import { adminProcedure, procedure, router } from "./trpc.ts";

const changes = {
  upstreamModel: upstreamModel.optional(),
  prices: prices.optional(),
  contextWindow: tokens.optional(),
  outputTokensMax: tokens.optional(),
  fallbacks: fallbacks.optional(),
};

/** A model is known by its id and by its slug. */
const reference = z.union([z.strictObject({ id }), z.strictObject({ slug })]);

export const modelsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.models.list()),

  get: procedure.input(reference).query(({ ctx, input }) => ctx.services.models.get(input)),

  /** What is not given is filled in with what is known of the model; null stays null. */
  create: adminProcedure
    .input(z.strictObject({ slug, providerId: id, ...changes }))
    .mutation(({ ctx, input }) => ctx.services.models.create(input)),

  update: adminProcedure
    .input(z.union([z.strictObject({ id, ...changes }), z.strictObject({ slug, ...changes })]))
    .mutation(({ ctx, input }) =>
      ctx.services.models.update("id" in input ? { id: input.id } : { slug: input.slug }, input),
    ),

  delete: adminProcedure.input(reference).mutation(({ ctx, input }) => ctx.services.models.delete(input)),

  /** What is known of a provider's models without asking its upstream. */
  known: adminProcedure
    .input(z.strictObject({ providerId: id }))
    .query(({ ctx, input }) => ctx.services.models.listKnown(input.providerId)),
});
