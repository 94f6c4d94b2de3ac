import * as z from "zod";
import {
  fallbacks,
  id,
  pageLimit,
  revision,
  search,
  slug,
  slugs,
  tokens,
  upstreamModel,
  prices,
} from "./inputs.ts";
import { procedure, router } from "./trpc.ts";

const changes = {
  upstreamModel: upstreamModel.optional(),
  prices: prices.optional(),
  contextWindow: tokens.optional(),
  outputTokensMax: tokens.optional(),
  fallbacks: fallbacks.optional(),
};

const reference = z.union([z.strictObject({ id }), z.strictObject({ slug })]);

export const modelsRouter = router({
  list: procedure
    .input(
      z
        .strictObject({ search, providerId: id.optional(), cursor: slug.optional(), limit: pageLimit })
        .optional(),
    )
    .query(({ ctx, input }) => ctx.services.models.list(ctx.person, input)),

  forSetup: procedure
    .input(z.strictObject({ slugs }))
    .query(({ ctx, input }) => ctx.services.models.listForSetup(input.slugs)),

  get: procedure.input(reference).query(({ ctx, input }) => ctx.services.models.get(ctx.person, input)),

  /** The effects of deleting the model. */
  impact: procedure.input(reference).query(({ ctx, input }) => ctx.services.models.impact(input)),

  create: procedure
    .input(z.strictObject({ slug, providerId: id, ...changes }))
    .mutation(({ ctx, input }) => ctx.services.models.create(ctx.person, input)),

  update: procedure
    .input(
      z.union([z.strictObject({ id, revision, ...changes }), z.strictObject({ slug, revision, ...changes })]),
    )
    .mutation(({ ctx, input }) => {
      const model = "id" in input ? { id: input.id } : { slug: input.slug };
      return ctx.services.models.update(ctx.person, model, input);
    }),

  delete: procedure
    .input(reference)
    .mutation(({ ctx, input }) => ctx.services.models.delete(ctx.person, input)),

  known: procedure
    .input(z.strictObject({ providerId: id }))
    .query(({ ctx, input }) => ctx.services.models.listKnown(input.providerId)),
});
