import type { initGraphQLTada } from "gql.tada";
import type { introspection, introspection_types } from "./usage-schema.d.ts";

/** Scalars as JSON has them: times in ISO 8601, exact numbers as text. */
type Scalars = { DateTime: string; Decimal: string; BigInt: string };

type TypedGraphql = ReturnType<
  typeof initGraphQLTada<{ introspection: introspection; scalars: Scalars; disableMasking: true }>
>;

/** A query or a fragment, with the fragments that it uses. Its type comes from the schema; its value is the text. */
export const graphql = ((text: string, fragments: string[] = []) =>
  text + fragments.join("")) as unknown as TypedGraphql;

export type UsageDimension = introspection_types["UsageDimension"]["enumValues"];
