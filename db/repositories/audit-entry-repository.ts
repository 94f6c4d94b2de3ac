import { And, type EntityManager, type FindOperator, LessThan, MoreThanOrEqual } from "typeorm";
import { AuditEntry, type AuditEntryRow } from "../entities/audit-entry.ts";

/** Filters entries by ID range, actor, action and entity. */
export type AuditEntryPage = {
  actorId?: string | undefined;
  action?: string | undefined;
  entityId?: string | undefined;
  /** Inclusive. */
  fromId: string;
  /** Exclusive. */
  beforeId: string;
  limit: number;
};

export class AuditEntryRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  async insert(entry: AuditEntryRow): Promise<void> {
    await this.#manager.insert(AuditEntry, entry);
  }

  /** Lists the newest entries first. */
  list({ actorId, action, entityId, fromId, beforeId, limit }: AuditEntryPage): Promise<AuditEntryRow[]> {
    const id: FindOperator<string> = And(MoreThanOrEqual(fromId), LessThan(beforeId));
    return this.#manager.find(AuditEntry, {
      where: { id, ...(actorId && { actorId }), ...(action && { action }), ...(entityId && { entityId }) },
      order: { id: "DESC" },
      take: limit,
    });
  }

  async deleteBefore(id: string): Promise<void> {
    await this.#manager.delete(AuditEntry, { id: LessThan(id) });
  }
}
