import * as z from "zod";
import { fallbacks, id, pageLimit, revision, search, slug, slugs, tokens, upstreamModel } from "./inputs.ts";
import { prices } from "./price-inputs.ts";
import { adminProcedure, procedure, router } from "./trpc.ts";

const changes = {
  upstreamModel: upstreamModel.optional(),
  prices: prices.optional(),
  contextWindow: tokens.optional(),
  outputTokensMax: tokens.optional(),
  fallbacks: fallbacks.optional(),
};

const reference = z.union([z.strictObject({ id }), z.strictObject({ slug })]);

export const modelsRouter = router({
  /** Lists models by slug. Without a limit, lists all. The next cursor is the last model's slug. */
  list: procedure
    .input(
      z
        .strictObject({ search, providerId: id.optional(), cursor: slug.optional(), limit: pageLimit })
        .optional(),
    )
    .query(({ ctx, input }) => ctx.services.models.list(ctx.person, input)),

  /** Returns the facts for setup commands. Omits unknown models. */
  forSetup: procedure
    .input(z.strictObject({ slugs }))
    .query(({ ctx, input }) => ctx.services.models.listForSetup(input.slugs)),

  get: procedure.input(reference).query(({ ctx, input }) => ctx.services.models.get(ctx.person, input)),

  /** The effects of deleting the model. */
  impact: adminProcedure.input(reference).query(({ ctx, input }) => ctx.services.models.impact(input)),

  /** Creates a model. Known facts replace missing values. Null stays null. */
  create: adminProcedure
    .input(z.strictObject({ slug, providerId: id, ...changes }))
    .mutation(({ ctx, input }) => ctx.services.models.create(ctx.person, input)),

  update: adminProcedure
    .input(
      z.union([z.strictObject({ id, revision, ...changes }), z.strictObject({ slug, revision, ...changes })]),
    )
    .mutation(({ ctx, input }) => {
      const model = "id" in input ? { id: input.id } : { slug: input.slug };
      return ctx.services.models.update(ctx.person, model, input);
    }),

  delete: adminProcedure
    .input(reference)
    .mutation(({ ctx, input }) => ctx.services.models.delete(ctx.person, input)),

  /** The known models of a provider, without a request to its upstream. */
  known: adminProcedure
    .input(z.strictObject({ providerId: id }))
    .query(({ ctx, input }) => ctx.services.models.listKnown(input.providerId)),
});
