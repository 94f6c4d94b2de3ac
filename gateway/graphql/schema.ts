import { type GraphQLSchema, lexicographicSortSchema, printSchema } from "graphql";
import { type Builder, createBuilder } from "./builder.ts";
import { resolveListsInTurns } from "./lists-in-turns.ts";
import { addUsageQueries } from "./usage-queries.ts";
import { parseMoment } from "../usage/history/parse-moment.ts";

export function createSchema(): GraphQLSchema {
  const builder = createBuilder();
  addScalars(builder);
  builder.queryType({});
  addUsageQueries(builder);
  return resolveListsInTurns(builder.toSchema());
}

export function printUsageSchema(): string {
  return `${printSchema(lexicographicSortSchema(createSchema()))}\n`;
}

function addScalars(builder: Builder): void {
  builder.scalarType("DateTime", {
    description:
      "An ISO 8601 timestamp with milliseconds, such as `2026-11-21T17:44:00.000Z`. Input may have any UTC offset.",
    serialize: (moment) => moment.toISOString(),
    parseValue: readMoment,
  });
  builder.scalarType("Decimal", {
    description: 'An exact decimal number as a string: `"0.0045"`.',
    serialize: formatNano,
    parseValue: refuse,
  });
  builder.scalarType("BigInt", {
    description: "An integer that may exceed 32 bits. Values beyond 2^53 are strings.",
    serialize: (value) => (value > Number.MAX_SAFE_INTEGER ? String(value) : Number(value)),
    parseValue: refuse,
  });
}

/** Converts nano-dollars to a decimal string of dollars, without rounding. */
function formatNano(nano: bigint): string {
  const digits = String(nano < 0n ? -nano : nano).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -9)}${fraction && `.${fraction}`}`;
}

function readMoment(value: unknown): Date {
  const moment = typeof value === "string" && momentPattern.test(value) ? parseMoment(value) : null;
  if (moment === null) {
    const shown = typeof value === "string" ? `"${value.slice(0, 60)}"` : "The value";
    throw new TypeError(`${shown} is not a timestamp. Use a timestamp such as 2026-11-21T17:44:00Z.`);
  }
  return moment;
}

/** RFC 3339, also without seconds. The offset is required, because a timestamp without an offset is ambiguous. */
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

function refuse(): never {
  throw new TypeError("is an output type");
}
