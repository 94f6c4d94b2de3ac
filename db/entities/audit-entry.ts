import { id, index, json, moment, nullable, type RowOf, table, text } from "./table.ts";

/**
 * An action, with the names at that time. It is never edited. It has no foreign keys, because entries outlive
 * actors and entities.
 */
export const AuditEntry = table(
  "audit_entries",
  {
    /** IDs are ordered by time. */
    id: id(),
    createdAt: moment(),
    /** Null if no one was signed in, as for a failed sign-in. */
    actorId: nullable(text(40)),
    actorName: nullable(text(255)),
    /** The entity, a dot and a verb: `key.create`. */
    action: text(48),
    entityId: text(40),
    entityName: text(255),
    details: json<object>(),
    /** The client's IP address, or `command line`. */
    address: text(64),
  },
  [
    index("audit_entries_actor", ["actorId", "id"]),
    index("audit_entries_action", ["action", "id"]),
    index("audit_entries_entity", ["entityId", "id"]),
  ],
);

export type AuditEntryRow = RowOf<typeof AuditEntry>;
