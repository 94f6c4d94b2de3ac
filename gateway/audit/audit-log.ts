import type { Database, Repositories } from "../../db/database.ts";
import type { AuditEntryRow } from "../../db/entities/audit-entry.ts";
import { createId, firstIdAt } from "../ids.ts";
import type { Runtime } from "../runtime.ts";

/** Contains the names at the time of the action. */
type AuditEntry = {
  id: string;
  at: Date;
  /** Null for a failed sign-in and for `people:reset`. */
  actor: { id: string; name: string } | null;
  action: AuditAction;
  label: string;
  entity: { type: string; id: string; name: string };
  details: Record<string, unknown>;
  /** The client's IP address, or `command line`. */
  address: string;
};

type AuditQuery = {
  actorId?: string | undefined;
  action?: AuditAction | undefined;
  entityId?: string | undefined;
  search?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  cursor?: string | undefined;
  limit?: number | undefined;
};

/** The author of a change. ID and name are null for a failed sign-in and for `people:reset`. */
export type Actor = { id: string | null; name: string | null; address: string };

type AuditLogOptions = { database: Database; runtime: Runtime; retentionDays: number };

/** Inserts each entry in the transaction of the change, so that neither exists alone. */
export class AuditLog {
  readonly #options: AuditLogOptions;
  #nextPruneAt = 0;

  constructor(options: AuditLogOptions) {
    this.#options = options;
  }

  /** @param details further facts, without secrets */
  async record(
    { auditEntries }: Repositories,
    actor: Actor,
    action: AuditAction,
    entity: { id: string; name: string },
    details: Record<string, unknown> = {},
  ): Promise<void> {
    const { retentionDays, runtime } = this.#options;
    const now = runtime.now();
    await auditEntries.insert({
      id: createId("aud", { now: () => now, randomBytes: runtime.randomBytes }),
      createdAt: new Date(now),
      actorId: actor.id,
      actorName: actor.name,
      action,
      entityId: entity.id,
      entityName: entity.name,
      details,
      address: actor.address,
    });
    const at = runtime.monotonicNow();
    if (at < this.#nextPruneAt) return;
    this.#nextPruneAt = at + pruneIntervalMs;
    await auditEntries.deleteBefore(firstIdAt("aud", now - retentionDays * dayMs));
  }

  /** Lists the newest entries first. `from` is inclusive, `to` exclusive. */
  async list(query: AuditQuery): Promise<{ items: AuditEntry[]; nextCursor: string | null }> {
    const { cursor, from, to, limit = entriesPerPage, ...filter } = query;
    const ends = [cursor ?? [], to ? firstIdAt("aud", to.getTime()) : []].flat();
    const rows = await this.#options.database.ask(null, ({ auditEntries }) =>
      auditEntries.list({
        ...filter,
        fromId: firstIdAt("aud", from?.getTime() ?? 0),
        beforeId: ends.toSorted()[0] ?? afterEveryId,
        limit: limit + 1,
      }),
    );
    const items = rows.slice(0, limit).map(toAuditEntry);
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  }
}

const entriesPerPage = 50;
const dayMs = 24 * 60 * 60_000;
const pruneIntervalMs = 60 * 60_000;
const afterEveryId = "aud_~";

function toAuditEntry(row: AuditEntryRow): AuditEntry {
  const { id, createdAt, actorId, actorName, entityId, entityName, details, address } = row;
  // Actions are never removed, so the actions of older releases are still valid.
  const action = row.action as AuditAction;
  const [type = ""] = action.split(".");
  return {
    id,
    at: createdAt,
    actor: actorId === null ? null : { id: actorId, name: actorName ?? "" },
    action,
    label: labels[action],
    entity: { type, id: entityId, name: entityName },
    details: { ...details },
    address,
  };
}

/** The labels that the console shows. The part before the dot is the entity type of the entry. */
const labels = {
  "key.create": "Key created",
  "key.rename": "Key renamed",
  "key.setModels": "Key models changed",
  "key.setLimits": "Key limits changed",
  "key.setChargeFactor": "Key charge changed",
  "key.setOwner": "Key owner changed",
  "key.activate": "Key activated",
  "key.deactivate": "Key deactivated",
  "key.rotate": "Key rotated",
  "key.delete": "Key deleted",
  "limits.set": "Limits changed",
  "model.create": "Model added",
  "model.update": "Model changed",
  "model.delete": "Model deleted",
  "provider.create": "Provider added",
  "provider.update": "Provider changed",
  "provider.delete": "Provider deleted",
  "provider.addModels": "Models added",
  "provider.addCredential": "Provider key added",
  "provider.updateCredential": "Provider key changed",
  "provider.removeCredential": "Provider key removed",
  "team.create": "Team created",
  "team.update": "Team renamed",
  "team.setStatus": "Team status changed",
  "team.addMember": "Member added",
  "team.setRole": "Team role changed",
  "team.removeMember": "Member removed",
  "user.setUp": "Gateway set up",
  "user.invite": "Person invited",
  "user.join": "Link used",
  "user.signIn": "Signed in",
  "user.signInFailed": "Sign-in failed",
  "user.signOut": "Signed out",
  "user.signOutEverywhere": "Signed out everywhere",
  "user.changePassword": "Password changed",
  "user.resetPassword": "Reset link created",
  "user.rename": "Person renamed",
  "user.setRole": "Role changed",
  "user.disable": "Person disabled",
  "user.enable": "Person enabled",
};

export type AuditAction = keyof typeof labels;

export const auditActions = Object.keys(labels) as AuditAction[];

export function listActions(): { action: AuditAction; label: string }[] {
  return auditActions.map((action) => ({ action, label: labels[action] }));
}

/** The fields that an edit changed, with their old and new values. */
export function differences<Thing extends object>(
  before: Thing,
  after: Thing,
  fields: readonly (keyof Thing & string)[],
): Record<string, { from: unknown; to: unknown }> {
  const changed = fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}

export function listSome(items: readonly string[]): { count: number; items: readonly string[] } {
  return { count: items.length, items: items.slice(0, itemsMax) };
}

const itemsMax = 50;
