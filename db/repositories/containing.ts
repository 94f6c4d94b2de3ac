import { type FindOperator, Raw } from "typeorm";

/** A text that has the other in it, whatever the case; `%` and `_` are meant as they stand. */
export function containing(text: string): FindOperator<string> {
  const pattern = `%${text.toLowerCase().replaceAll(/[%_!]/g, "!$&")}%`;
  return Raw((column) => `LOWER(${column}) LIKE :pattern ESCAPE '!'`, { pattern });
}
