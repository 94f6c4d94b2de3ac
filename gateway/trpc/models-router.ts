import * as z from "zod";
import { id, revision, slug, slugs } from "../inputs.ts";
import { modelChanges, modelQuery, modelReference } from "../models/model-inputs.ts";
import { procedure, router } from "./trpc.ts";

export const modelsRouter = router({
  list: procedure
    .input(modelQuery.optional())
    .query(({ ctx, input }) => ctx.services.models.list(ctx.person, input)),

  forSetup: procedure
    .input(z.strictObject({ slugs }))
    .query(({ ctx, input }) => ctx.services.models.listForSetup(input.slugs)),

  get: procedure.input(modelReference).query(({ ctx, input }) => ctx.services.models.get(ctx.person, input)),

  impact: procedure.input(modelReference).query(({ ctx, input }) => ctx.services.models.impact(input)),

  create: procedure
    .input(z.strictObject({ slug, providerId: id, ...modelChanges }))
    .mutation(({ ctx, input }) => ctx.services.models.create(ctx.person, input)),

  update: procedure
    .input(
      z.union([
        z.strictObject({ id, revision, ...modelChanges }),
        z.strictObject({ slug, revision, ...modelChanges }),
      ]),
    )
    .mutation(({ ctx, input }) => {
      const model = "id" in input ? { id: input.id } : { slug: input.slug };
      return ctx.services.models.update(ctx.person, model, input);
    }),

  delete: procedure
    .input(modelReference)
    .mutation(({ ctx, input }) => ctx.services.models.delete(ctx.person, input)),

  known: procedure
    .input(z.strictObject({ providerId: id }))
    .query(({ ctx, input }) => ctx.services.models.listKnown(input.providerId)),
});
