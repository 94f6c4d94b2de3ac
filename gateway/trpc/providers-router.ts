import * as z from "zod";
import { providerKindNames } from "../providers/registry.ts";
import { id, providerName, timeouts } from "./inputs.ts";
import { adminProcedure, router } from "./trpc.ts";

const baseUrl = z.string().trim().max(2048);
// A line break or a space in it would be a mistake of copying, and must not get into a header.
const apiKey = z
  .string()
  .trim()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, "must be printable characters without spaces");

export const providersRouter = router({
  list: adminProcedure.query(({ ctx }) => ctx.services.providers.list()),

  create: adminProcedure
    .input(
      z.strictObject({
        name: providerName,
        kind: z.enum(providerKindNames),
        baseUrl: baseUrl.nullish(),
        apiKey: apiKey.optional(),
        timeouts: timeouts.optional(),
      }),
    )
    .mutation(({ ctx, input }) => ctx.services.providers.create(input)),

  update: adminProcedure
    .input(z.strictObject({ id, baseUrl: baseUrl.optional(), timeouts: timeouts.optional() }))
    .mutation(({ ctx, input: { id: providerId, ...changes } }) =>
      ctx.services.providers.update(providerId, changes),
    ),

  delete: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.providers.delete(input.id)),

  /** A real, cheap call, with a verdict in words. */
  test: adminProcedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.providers.test(input.id)),

  /** The names of the upstream's models, to pick from. */
  discoverModels: adminProcedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.providers.discoverModels(input.id)),

  addCredential: adminProcedure
    .input(z.strictObject({ id, apiKey }))
    .mutation(({ ctx, input }) => ctx.services.providers.addCredential(input.id, input.apiKey)),

  removeCredential: adminProcedure
    .input(z.strictObject({ id, credentialId: id }))
    .mutation(({ ctx, input }) => ctx.services.providers.removeCredential(input.id, input.credentialId)),
});
