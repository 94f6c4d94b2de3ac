import { id, index, json, moment, nullable, type RowOf, table, text } from "./table.ts";

/**
 * One thing that somebody did, with the names of the time. It has no foreign keys: it outlives whoever did it and what it
 * was done to. Never edited.
 */
export const AuditEntry = table(
  "audit_entries",
  {
    /** Ordered by time. */
    id: id(),
    createdAt: moment(),
    /** Null where nobody was signed in, as for a failed attempt to. */
    actorId: nullable(text(40)),
    actorName: nullable(text(255)),
    /** What it was done to, a dot, and what was done: `key.create`. */
    action: text(48),
    entityId: text(40),
    entityName: text(255),
    details: json<object>(),
    /** The IP address it was done from, or `command line`. */
    address: text(64),
  },
  [
    index("audit_entries_actor", ["actorId", "id"]),
    index("audit_entries_action", ["action", "id"]),
    index("audit_entries_entity", ["entityId", "id"]),
  ],
);

export type AuditEntryRow = RowOf<typeof AuditEntry>;
