import * as z from "zod";
import { listPresets } from "../providers/presets.ts";
import { providerKindNames } from "../providers/registry.ts";
import {
  apiKey,
  baseUrl,
  environmentVariable,
  id,
  preset,
  providerName,
  revision,
  timeouts,
  upstreamModel,
  weight,
} from "./inputs.ts";
import { adminProcedure, router } from "./trpc.ts";

export const providersRouter = router({
  list: adminProcedure.query(({ ctx }) => ctx.services.providers.list()),

  /** The well-known upstreams, to fill a form with. */
  presets: adminProcedure.query(() => listPresets()),

  /** Which private addresses may be called, so that whoever enters another is told how. */
  privateHosts: adminProcedure.query(({ ctx }) => ctx.services.providers.privateHosts()),

  create: adminProcedure
    .input(
      z.strictObject({
        name: providerName,
        kind: z.enum(providerKindNames),
        preset: preset.nullish(),
        baseUrl: baseUrl.nullish(),
        apiKey: apiKey.optional(),
        timeouts: timeouts.optional(),
      }),
    )
    .mutation(({ ctx, input }) => ctx.services.providers.create(ctx.person, input)),

  update: adminProcedure
    .input(
      z.strictObject({
        id,
        preset: preset.nullish(),
        baseUrl: baseUrl.optional(),
        timeouts: timeouts.optional(),
        revision,
      }),
    )
    .mutation(({ ctx, input: { id: providerId, ...changes } }) =>
      ctx.services.providers.update(ctx.person, providerId, changes),
    ),

  /** How each of them does: what the last hour's requests and this process's cool-downs tell. */
  health: adminProcedure.query(({ ctx }) => ctx.services.providers.health()),

  /** What stops working when the provider goes, with its models. */
  impact: adminProcedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.providers.impact(input.id)),

  /** A provider that has models is kept, unless they are to go too. */
  delete: adminProcedure
    .input(z.strictObject({ id, withModels: z.boolean().default(false) }))
    .mutation(({ ctx, input }) => ctx.services.providers.delete(ctx.person, input.id, input.withModels)),

  /** A real, cheap call with each credential, and a verdict in words on each and on the whole. */
  test: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.providers.test(input.id)),

  /** The upstream's models, to pick from, with what is known of them. */
  discoverModels: adminProcedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.providers.discoverModels(input.id)),

  /** Makes models of what was picked. Those that are here already stay as they are. */
  addModels: adminProcedure
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

  addCredential: adminProcedure
    .input(z.strictObject({ id, apiKey, weight: weight.optional() }))
    .mutation(({ ctx, input: { id: providerId, ...credential } }) =>
      ctx.services.credentials.add(ctx.person, { providerId, ...credential }),
    ),

  updateCredential: adminProcedure
    .input(z.strictObject({ id, credentialId: id, weight }))
    .mutation(({ ctx, input }) =>
      ctx.services.credentials.update(ctx.person, input.id, input.credentialId, input.weight),
    ),

  /** What stops working when the credential goes. */
  credentialImpact: adminProcedure
    .input(z.strictObject({ id, credentialId: id }))
    .query(({ ctx, input }) => ctx.services.credentials.impact(input.id, input.credentialId)),

  removeCredential: adminProcedure
    .input(z.strictObject({ id, credentialId: id }))
    .mutation(({ ctx, input }) => ctx.services.credentials.remove(ctx.person, input.id, input.credentialId)),

  /** Upstreams' keys that were found in the environment at the start: the names of their variables, never the keys. */
  environmentKeys: adminProcedure.query(({ ctx }) => ctx.services.providers.environmentKeys()),

  /** Makes a provider of each of them, all or none. */
  importFromEnvironment: adminProcedure
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
