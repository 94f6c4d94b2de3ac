import { And, type EntityManager, type FindOperator, LessThan, MoreThanOrEqual } from "typeorm";
import { AuditEntry, type AuditEntryRow } from "../entities/audit-entry.ts";
import { containing } from "./containing.ts";

export type AuditEntryPage = {
  actorId?: string | undefined;
  action?: string | undefined;
  entityId?: string | undefined;
  /** A part of a name or of the address, or the whole entity ID. */
  search?: string | undefined;
  /** The bound is inclusive. */
  fromId: string;
  /** The bound is exclusive. */
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
  list(page: AuditEntryPage): Promise<AuditEntryRow[]> {
    const { actorId, action, entityId, search, fromId, beforeId, limit } = page;
    const id: FindOperator<string> = And(MoreThanOrEqual(fromId), LessThan(beforeId));
    const filter = {
      id,
      ...(actorId && { actorId }),
      ...(action && { action }),
      ...(entityId && { entityId }),
    };
    const text = search ? containing(search) : undefined;
    return this.#manager.find(AuditEntry, {
      where: text
        ? [
            { ...filter, entityName: text },
            { ...filter, actorName: text },
            { ...filter, address: text },
            ...(entityId ? [] : [{ ...filter, entityId: search }]),
          ]
        : filter,
      order: { id: "DESC" },
      take: limit,
    });
  }

  async deleteBefore(id: string): Promise<void> {
    await this.#manager.delete(AuditEntry, { id: LessThan(id) });
  }
}
