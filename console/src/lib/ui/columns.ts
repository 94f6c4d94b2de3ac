import type { Snippet } from "svelte";

/** A column of `DataTable`. Its cells are a text or a snippet. */
export type Column<Row> = {
  title: string;
  hideTitle?: boolean;
  numeric?: boolean;
  /** The narrowest screen that shows the column. */ from?: "medium" | "wide" | "widest";
  /** Only for lists that the browser has in full. */ sort?: Sort<Row>;
  /** Explains a column that sorts. */ hint?: string;
} & (
  | { text: (row: Row) => string | number }
  | { cell: Snippet<[Row]>; /** Whether the cell names its row. */ isHeading?: boolean }
);

/** `name` is the value of `sort` in the URL. */
export type Sort<Row> = { name: string; by: (row: Row) => string | number | null };

/**
 * Sorts by the column that `order` names. Texts sort in ascending order, and numbers in descending order with unknown
 * values last. A "-" before the name reverses both.
 */
export function sortRows<Row>(rows: Row[], columns: { sort?: Sort<Row> }[], order: string): Row[] {
  const sort = columns.find((column) => column.sort?.name === order.replace(/^-/, ""))?.sort;
  if (!sort) return rows;
  const sorted = rows.toSorted((one, other) => compare(sort.by(one), sort.by(other)));
  return order.startsWith("-") ? sorted.reverse() : sorted;
}

function compare(one: string | number | null, other: string | number | null): number {
  if (typeof one === "string" && typeof other === "string") return one.localeCompare(other);
  return Number(other ?? -1) - Number(one ?? -1);
}
