/** A statement, or the wish for the next part of its rows. */
export type SideRequest = { sql: string; parameters: unknown[] } | "next";

export type SideReply =
  | { columns: string[]; rows: unknown[][]; isLast: boolean }
  | { error: { name: string; message: string; code: string | undefined } };
