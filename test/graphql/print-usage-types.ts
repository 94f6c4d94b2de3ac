import { writeFileSync } from "node:fs";
import { minifyIntrospection, outputIntrospectionFile } from "@gql.tada/internal";
import { type GraphQLSchema, introspectionFromSchema } from "graphql";
import { createSchema } from "../../gateway/graphql/schema.ts";

/** The schema of the usage history as TypeScript types, from which the console's queries get their types. */
export function printUsageTypes(schema: GraphQLSchema): string {
  const introspection = minifyIntrospection(introspectionFromSchema(schema));
  const types = outputIntrospectionFile(introspection, { fileType: ".d.ts", shouldPreprocess: true });
  // The file begins with directives for other linters.
  return types.replaceAll(/^\/\*.*\*\/\s/gm, "").trimStart();
}

// `npm run graphql:schema`: writes the types that are checked in.
if (import.meta.main)
  writeFileSync(
    new URL("../../console/src/lib/session/usage-schema.d.ts", import.meta.url),
    printUsageTypes(createSchema()),
  );
