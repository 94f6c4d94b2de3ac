import { id, index, json, moment, nullable, type RowOf, table, text } from "./table.ts";

/** Contains the names at the time of the action. There are no foreign keys, because entries outlive the entities. */
export const AuditEntry = table(
  "audit_entries",
  {
    /** IDs are ordered by time. */
    id: id(),
    createdAt: moment(),
    /** Null if no one was signed in, as for a failed sign-in. */
    actorId: nullable(text(40)),
    actorName: nullable(text(255)),
    /** An `AuditAction`, such as `key.create`. */
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
