import { type FindOperator, Raw } from "typeorm";

/** Matches texts that contain `text`, ignoring case. `%` and `_` are literal. */
export function containing(text: string): FindOperator<string> {
  const pattern = `%${text.toLowerCase().replaceAll(/[%_!]/g, "!$&")}%`;
  return Raw((column) => `LOWER(${column}) LIKE :pattern ESCAPE '!'`, { pattern });
}
