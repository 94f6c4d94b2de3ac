import * as z from "zod";
import { id, pageLimit, search, slug, whole, wholeCharacters } from "../inputs.ts";
import { prices } from "../known-models/price-inputs.ts";

// Inside a union, `max` would hide the path of the invalid field.
const fallbacks = z
  .array(slug)
  .refine((list) => list.length <= 5, "The list has more than 5 fallbacks. Remove some of them.")
  .refine((list) => duplicateIn(list) === undefined, {
    error: ({ input }) =>
      `The list contains "${duplicateIn(input as string[])}" twice. Remove the duplicate.`,
  });

function duplicateIn(list: readonly string[]): string | undefined {
  return list.find((each, index) => list.indexOf(each) < index);
}

export const upstreamModel = z
  .string()
  .trim()
  .min(1, "The upstream model is empty. Enter the provider's model ID.")
  .max(255, "The upstream model has more than 255 characters. Enter the provider's model ID.")
  .refine(...wholeCharacters);

const tokens = whole(2 ** 31 - 1).nullable();

/** What an administrator sets of a model. */
export const modelChanges = {
  upstreamModel: upstreamModel.optional(),
  prices: prices.optional(),
  contextWindow: tokens.optional(),
  outputTokensMax: tokens.optional(),
  /** The slugs of all fallbacks, in order. */
  fallbacks: fallbacks.optional(),
};

type ModelFields = z.output<z.ZodObject<typeof modelChanges>>;

export type NewModel = ModelFields & { slug: string; providerId: string };

/** Without the revision on which it is based, an edit skips the check for concurrent edits. */
export type ModelChanges = ModelFields & { revision?: number | undefined };

export const modelReference = z.union([z.strictObject({ id }), z.strictObject({ slug })]);

export const modelQuery = z.strictObject({
  search,
  providerId: id.optional(),
  /** The slug of the previous page's last model. */
  cursor: slug.optional(),
  limit: pageLimit,
});
export type ModelQuery = z.output<typeof modelQuery>;
