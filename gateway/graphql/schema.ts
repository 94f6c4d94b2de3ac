import { type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { createBuilder } from "./builder.ts";
import { addUsageQueries } from "./usage-queries.ts";

export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
  builder.queryType({});
  addUsageQueries(builder);
  return builder.toSchema();
}

/** As it is checked in, in `schema.graphql`. */
export function printUsageSchema(): string {
  return `${printSchema(lexicographicSortSchema(createSchema()))}\n`;
}
