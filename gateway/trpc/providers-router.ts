import * as z from "zod";
import { listPresets } from "../providers/registry.ts";
import { id, moment } from "../inputs.ts";
import { upstreamModel } from "../models/model-inputs.ts";
import {
  apiKey,
  environmentVariable,
  newProvider,
  providerChanges,
  weight,
} from "../models/provider-inputs.ts";
import { procedure, procedureOfId, router } from "./trpc.ts";

export const providersRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.providers.list()),

  presets: procedure.query(() => listPresets()),

  privateHosts: procedure.query(({ ctx }) => ctx.services.providers.privateHosts()),

  create: procedure
    .input(newProvider)
    .mutation(({ ctx, input }) => ctx.services.providers.create(ctx.person, input)),

  update: procedure
    .input(providerChanges)
    .mutation(({ ctx, input }) => ctx.services.providers.update(ctx.person, input)),

  health: procedure.query(({ ctx }) => ctx.services.providers.health()),

  /** Covers 48 half-hours. `until` is a time in the last half-hour. */
  healthHistory: procedure
    .input(z.strictObject({ until: moment.optional() }).default({}))
    .query(({ ctx, input }) =>
      ctx.services.providers.healthHistory(input.until?.getTime() ?? ctx.runtime.now()),
    ),

  impact: procedureOfId.query(({ ctx, input }) => ctx.services.providers.impact(input.id)),

  delete: procedure
    .input(z.strictObject({ id, withModels: z.boolean().default(false) }))
    .mutation(({ ctx, input }) => ctx.services.providers.delete(ctx.person, input.id, input.withModels)),

  test: procedureOfId.mutation(({ ctx, input }) => ctx.services.providers.test(input.id)),

  discoverModels: procedureOfId.query(({ ctx, input }) => ctx.services.providers.discoverModels(input.id)),

  addModels: procedure
    .input(
      z.strictObject({
        id,
        models: z
          .array(upstreamModel)
          .max(500)
          .transform((names) => [...new Set(names)]),
      }),
    )
    .mutation(({ ctx, input }) => ctx.services.models.addAll(ctx.person, input.id, input.models)),

  addCredential: procedure
    .input(z.strictObject({ id, apiKey, weight: weight.optional() }))
    .mutation(({ ctx, input: { id: providerId, ...credential } }) =>
      ctx.services.credentials.add(ctx.person, { providerId, ...credential }),
    ),

  updateCredential: procedure
    .input(z.strictObject({ id, credentialId: id, weight }))
    .mutation(({ ctx, input }) =>
      ctx.services.credentials.update(ctx.person, input.id, input.credentialId, input.weight),
    ),

  credentialImpact: procedure
    .input(z.strictObject({ id, credentialId: id }))
    .query(({ ctx, input }) => ctx.services.credentials.impact(input.id, input.credentialId)),

  removeCredential: procedure
    .input(z.strictObject({ id, credentialId: id }))
    .mutation(({ ctx, input }) => ctx.services.credentials.remove(ctx.person, input.id, input.credentialId)),

  environmentKeys: procedure.query(({ ctx }) => ctx.services.providers.environmentKeys()),

  importFromEnvironment: procedure
    .input(
      z.strictObject({
        variables: z
          .array(environmentVariable)
          .min(1)
          .max(50)
          .transform((names) => [...new Set(names)]),
      }),
    )
    .mutation(({ ctx, input }) => ctx.services.providers.importFromEnvironment(ctx.person, input.variables)),
});
