import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaIndexOptions } from "typeorm";

/**
 * Defines the TypeORM schema and the row type together: `table("api_keys", { id: id(), name: text(255) })` is an
 * `EntitySchema<{ id: string; name: string }>`. Database columns are the property names in snake case.
 */
export function table<Columns extends Record<string, Column<unknown>>>(
  name: string,
  columns: Columns,
  indices: EntitySchemaIndexOptions[] = [],
  more: TableOptions = {},
): EntitySchema<Row<Columns>> {
  const named = Object.fromEntries(
    Object.entries(columns).map(([property, column]) => [
      property,
      { ...column, name: toColumnName(property) },
    ]),
  );
  // The cast is sound, because Row<Columns> is derived from these columns.
  return new EntitySchema<Row<Columns>>({
    name,
    tableName: name,
    columns: named as EntitySchema<Row<Columns>>["options"]["columns"],
    indices,
    ...more,
  });
}

/** `withoutRowid`: SQLite stores the rows in the tree of the primary key. */
type TableOptions = { withoutRowid?: boolean };

/** `valueType` is never set. It carries the type of the column's values at compile time. */
export type Column<Value> = EntitySchemaColumnOptions & { readonly valueType?: Value };

export type Row<Columns> = {
  -readonly [Name in keyof Columns]: Columns[Name] extends Column<infer Value> ? Value : never;
};

/** The row type of an entity: `RowOf<typeof ApiKey>`. */
export type RowOf<Entity> = Entity extends EntitySchema<infer Shape> ? Shape : never;

type Options = Partial<EntitySchemaColumnOptions>;

export const id = (options: Options = {}): Column<string> => ({ ...text(40), primary: true, ...options });

export function text<Value extends string = string>(length: number, options: Options = {}): Column<Value> {
  return { type: "varchar", length, ...options };
}

/** On MySQL, at most 65,535 bytes. */
export const longText = (options: Options = {}): Column<string> => ({ type: "text", ...options });

/** A moment in UTC, with milliseconds. */
export const moment = (options: Options = {}): Column<Date> => ({
  type: "datetime",
  precision: 3,
  ...options,
});

export const integer = (options: Options = {}): Column<number> => ({ type: "integer", ...options });

/** Stores up to 64 bits, but numbers are exact only up to 2^53. The MySQL driver returns text. */
export const bigInteger = (options: Options = {}): Column<number> => ({
  type: "bigint",
  transformer: {
    to: (value: unknown) => value,
    from: (value: unknown) => (value === null || value === undefined ? value : Number(value)),
  },
  ...options,
});

export const flag = (options: Options = {}): Column<boolean> => ({ type: "boolean", ...options });

export const json = <Value>(options: Options = {}): Column<Value> => ({ type: "json", ...options });

/** The same column under several names. */
export function columnsFor<Name extends string, Value>(names: readonly Name[], column: Column<Value>) {
  return Object.fromEntries(names.map((name) => [name, column])) as Record<Name, Column<Value>>;
}

export function nullable<Value>(column: Column<Value>): Column<Value | null> {
  return { ...column, nullable: true } as Column<Value | null>;
}

/** `onUpdate` is explicit, because MariaDB reports the default and TypeORM would detect a changed schema. */
export function references(target: string, onDelete: "CASCADE" | "RESTRICT" | "SET NULL"): Options {
  return { foreignKey: { target, onDelete, onUpdate: "NO ACTION" } };
}

/** Names the index explicitly. With a column's `unique: true`, TypeORM's name for the index depends on the database. */
export function uniqueIndex(name: string, columns: string[]): EntitySchemaIndexOptions {
  return { name, columns, unique: true };
}

export function index(name: string, columns: string[]): EntitySchemaIndexOptions {
  return { name, columns };
}

export function toColumnName(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
