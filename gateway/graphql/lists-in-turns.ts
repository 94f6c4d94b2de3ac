import { defaultFieldResolver, getNullableType, type GraphQLSchema, isListType, isObjectType } from "graphql";
import { inTurns, nextTurn } from "../next-turn.ts";

/** Lets the executor pause between the rows of long lists, which would block streams for up to a second. */
export function resolveListsInTurns(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    for (const field of Object.values(type.getFields())) {
      if (!isListType(getNullableType(field.type))) continue;
      const { resolve = defaultFieldResolver } = field;
      field.resolve = (...given) => {
        const found: unknown = resolve(...given);
        return found instanceof Promise ? found.then(split) : split(found);
      };
    }
  }
  return schema;
}

function split(found: unknown): unknown {
  return Array.isArray(found) && found.length > rowsPerTurn ? inTurns(found, rowsPerTurn) : found;
}

/**
 * Writes data as JSON in parts, for the same reason. Lists stand at most `listDepthMax` members deep, as in
 * `usageRecords { edges }`.
 */
export async function* toJsonParts(data: object): AsyncGenerator<string> {
  let part = "";
  for (const piece of piecesOf(data, 0)) {
    part += piece;
    if (part.length < partLength) continue;
    yield part;
    part = "";
    await nextTurn();
  }
  yield part;
}

function* piecesOf(value: unknown, depth: number): Generator<string> {
  if (Array.isArray(value)) {
    for (let from = 0; from < value.length; from += rowsPerTurn) {
      yield `${from === 0 ? "[" : ","}${JSON.stringify(value.slice(from, from + rowsPerTurn)).slice(1, -1)}`;
    }
    yield value.length === 0 ? "[]" : "]";
  } else if (typeof value === "object" && value !== null && depth < listDepthMax) {
    let before = "{";
    for (const [name, member] of Object.entries(value)) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(member, depth + 1);
      before = ",";
    }
    yield before === "{" ? "{}" : "}";
  } else yield JSON.stringify(value);
}

/** About 2 ms of work. */
const rowsPerTurn = 50;
const listDepthMax = 2;
const partLength = 64 * 1024;
