import * as z from "zod";
import { cursor, id, moment, name, pageLimit, revision, search, slug, slugs } from "../inputs.ts";
import { limitChanges } from "../limits/limit-inputs.ts";

const filter = {
  search,
  modelSlug: slug.optional(),
  ownerId: id.optional(),
  attention: z.enum(["expiring", "unused"]).optional(),
};

export const keyFilter = z.strictObject(filter);

export const keyPage = z.strictObject({
  ...filter,
  status: z.enum(["active", "disabled"]).optional(),
  cursor,
  limit: pageLimit,
});

const searchText = z.string().min(1).max(4_096);

export const soughtKey = z.union([
  z.strictObject({ value: searchText }),
  z.strictObject({ text: searchText }),
]);

export const newKey = z.strictObject({
  name,
  models: slugs.optional(),
  expiresAt: moment.nullish(),
  limits: limitChanges.optional(),
  ownerId: id.optional(),
});

export const keyLimitChanges = z.strictObject({
  id,
  limits: limitChanges.optional(),
  expiresAt: moment.nullish(),
  revision,
});

export const rotation = z.strictObject({
  id,
  /** How long the old value stays valid. */
  overlapSeconds: z
    .int()
    .min(0)
    .max(7 * 24 * 60 * 60)
    .default(24 * 60 * 60),
});
