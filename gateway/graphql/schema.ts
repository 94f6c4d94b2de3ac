import { type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { createBuilder } from "./builder.ts";
import { addScalars } from "./scalars.ts";
import { addUsageQueries } from "./usage-queries.ts";

export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
  addScalars(builder);
  builder.queryType({});
  addUsageQueries(builder);
  return builder.toSchema();
}

/** As it is checked in, in `schema.graphql`. */
export function printUsageSchema(): string {
  return `${printSchema(lexicographicSortSchema(createSchema()))}\n`;
}
