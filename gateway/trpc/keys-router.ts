import * as z from "zod";
import {
  chargeFactor,
  cursor,
  id,
  keyLimits,
  moment,
  name,
  pageLimit,
  revision,
  search,
  slug,
  slugs,
} from "./inputs.ts";
import { procedure, router } from "./trpc.ts";

const filter = {
  search,
  modelSlug: slug.optional(),
  ownerId: id.optional(),
  attention: z.enum(["expiring", "unused"]).optional(),
};
const status = z.enum(["active", "disabled"]);
const overlapSeconds = z
  .int()
  .min(0)
  .max(7 * 24 * 60 * 60);

const searchText = z.string().min(1).max(4_096);

export const keysRouter = router({
  list: procedure
    .input(
      z
        .strictObject({ ...filter, status: status.optional(), cursor, limit: pageLimit })
        .default({ cursor: undefined }),
    )
    .query(({ ctx, input }) => ctx.services.keys.list(ctx.person, input)),

  counts: procedure
    .input(z.strictObject(filter).default({}))
    .query(({ ctx, input }) => ctx.services.keys.count(ctx.person, input)),

  get: procedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.keys.get(ctx.person, input.id)),

  /** A mutation, because the URL of a query could contain the key value. */
  find: procedure
    .input(z.union([z.strictObject({ value: searchText }), z.strictObject({ text: searchText })]))
    .mutation(({ ctx, input }) => ctx.services.keys.find(ctx.person, input)),

  usage: procedure
    .input(z.strictObject({ id }))
    .query(({ ctx, input }) => ctx.services.keyUsage.get(ctx.person, input.id)),

  /** Returns the key value, which cannot be read again. Only administrators can set another owner. */
  create: procedure
    .input(
      z.strictObject({
        name,
        models: slugs.optional(),
        expiresAt: moment.nullish(),
        limits: keyLimits.optional(),
        ownerId: id.optional(),
      }),
    )
    .mutation(({ ctx, input }) => ctx.services.keys.create(ctx.person, input)),

  rename: procedure
    .input(z.strictObject({ id, name, revision }))
    .mutation(({ ctx, input }) => ctx.services.keys.rename(ctx.person, input.id, input.name, input.revision)),

  setModels: procedure
    .input(z.strictObject({ id, models: slugs, revision }))
    .mutation(({ ctx, input }) =>
      ctx.services.keys.setModels(ctx.person, input.id, input.models, input.revision),
    ),

  /** Null removes a limit or the expiry. Members cannot loosen a limit or extend the expiry. */
  setLimits: procedure
    .input(z.strictObject({ id, limits: keyLimits.optional(), expiresAt: moment.nullish(), revision }))
    .mutation(({ ctx, input: { id: keyId, revision: seen, ...edit } }) =>
      ctx.services.keys.setLimits(ctx.person, keyId, edit, seen),
    ),

  setChargeFactor: procedure
    .input(z.strictObject({ id, chargeFactor: chargeFactor.nullable(), revision }))
    .mutation(({ ctx, input }) =>
      ctx.services.keys.setChargeFactor(ctx.person, input.id, input.chargeFactor, input.revision),
    ),

  activate: procedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.keys.activate(ctx.person, input.id)),

  deactivate: procedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.keys.deactivate(ctx.person, input.id)),

  rotate: procedure
    .input(z.strictObject({ id, overlapSeconds: overlapSeconds.default(24 * 60 * 60) }))
    .mutation(({ ctx, input }) => ctx.services.keys.rotate(ctx.person, input.id, input.overlapSeconds)),

  delete: procedure
    .input(z.strictObject({ id }))
    .mutation(({ ctx, input }) => ctx.services.keys.delete(ctx.person, input.id)),
});
