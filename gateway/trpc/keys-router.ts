import * as z from "zod";
import { id, name, revision, slugs } from "../inputs.ts";
import { keyFilter, keyLimitChanges, keyPage, newKey, rotation, soughtKey } from "../keys/key-inputs.ts";
import { chargeFactor } from "../known-models/price-inputs.ts";
import { procedure, procedureOfId, router } from "./trpc.ts";

export const keysRouter = router({
  list: procedure
    .input(keyPage.default({ cursor: undefined }))
    .query(({ ctx, input }) => ctx.services.keys.list(ctx.person, input)),

  counts: procedure
    .input(keyFilter.default({}))
    .query(({ ctx, input }) => ctx.services.keys.count(ctx.person, input)),

  get: procedureOfId.query(({ ctx, input }) => ctx.services.keys.get(ctx.person, input.id)),

  /** A mutation, because the URL of a query could contain the key value. */
  find: procedure.input(soughtKey).mutation(({ ctx, input }) => ctx.services.keys.find(ctx.person, input)),

  usage: procedureOfId.query(({ ctx, input }) => ctx.services.keyUsage.get(ctx.person, input.id)),

  /** Returns the key value, which cannot be read again. Only administrators can set another owner. */
  create: procedure.input(newKey).mutation(({ ctx, input }) => ctx.services.keys.create(ctx.person, input)),

  rename: procedure
    .input(z.strictObject({ id, name, revision }))
    .mutation(({ ctx, input }) => ctx.services.keys.rename(ctx.person, input)),

  setModels: procedure
    .input(z.strictObject({ id, models: slugs, revision }))
    .mutation(({ ctx, input }) => ctx.services.keys.setModels(ctx.person, input)),

  /** Null removes a limit or the expiry. Members cannot loosen a limit or extend the expiry. */
  setLimits: procedure
    .input(keyLimitChanges)
    .mutation(({ ctx, input }) => ctx.services.keys.setLimits(ctx.person, input)),

  setChargeFactor: procedure
    .input(z.strictObject({ id, chargeFactor: chargeFactor.nullable(), revision }))
    .mutation(({ ctx, input }) => ctx.services.keys.setChargeFactor(ctx.person, input)),

  setOwner: procedure
    .input(z.strictObject({ id, ownerId: id.nullable(), revision }))
    .mutation(({ ctx, input }) => ctx.services.keys.setOwner(ctx.person, input)),

  activate: procedureOfId.mutation(({ ctx, input }) => ctx.services.keys.activate(ctx.person, input.id)),

  deactivate: procedureOfId.mutation(({ ctx, input }) => ctx.services.keys.deactivate(ctx.person, input.id)),

  rotate: procedure
    .input(rotation)
    .mutation(({ ctx, input }) => ctx.services.keys.rotate(ctx.person, input.id, input.overlapSeconds)),

  delete: procedureOfId.mutation(({ ctx, input }) => ctx.services.keys.delete(ctx.person, input.id)),
});
