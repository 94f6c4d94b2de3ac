import * as z from "zod";
import { cursor, id, moment, name, pageLimit, revision, search, slug, slugs } from "../inputs.ts";
import { limitChanges } from "../limits/limit-inputs.ts";

const filter = {
  search,
  modelSlug: slug.optional(),
  ownerId: id.optional(),
  /** Leads of the team see all its keys, its other members their own. */
  teamId: id.optional(),
  /** Keys that expire within 7 days, or that never made a request, regardless of status. */
  attention: z.enum(["expiring", "unused"]).optional(),
};

export const keyFilter = z.strictObject(filter);
export type KeyFilter = z.output<typeof keyFilter>;

export const keyPage = z.strictObject({
  ...filter,
  status: z.enum(["active", "disabled"]).optional(),
  cursor,
  limit: pageLimit,
});
export type KeyPage = z.output<typeof keyPage>;

const searchText = z.string().min(1).max(4_096);

/** `text` may also be a masked value, the last four characters of a value, or a key's ID. */
export const soughtKey = z.union([
  z.strictObject({ value: searchText }),
  z.strictObject({ text: searchText }),
]);
export type SoughtKey = z.output<typeof soughtKey>;

export const newKey = z.strictObject({
  name,
  models: slugs.optional(),
  expiresAt: moment.nullish(),
  limits: limitChanges.optional(),
  /**
   * The author by default. Null for a service key of the team. Only administrators and leads of the team can set
   * another owner than themselves.
   */
  ownerId: id.nullish(),
  /** The team that pays. By default, the owner pays. */
  teamId: id.optional(),
});
export type NewKey = z.output<typeof newKey>;

export const keyLimitChanges = z.strictObject({
  id,
  limits: limitChanges.optional(),
  expiresAt: moment.nullish(),
  revision,
});
export type LimitEdit = Omit<z.output<typeof keyLimitChanges>, "id" | "revision">;

export const rotation = z.strictObject({
  id,
  /** How long the old value stays valid. */
  overlapSeconds: z
    .int()
    .min(0)
    .max(7 * 24 * 60 * 60)
    .default(24 * 60 * 60),
});
