import { type EntityManager, LessThan, Not } from "typeorm";
import { Session, type SessionRow } from "../entities/user.ts";

export class SessionRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  find(id: string): Promise<SessionRow | null> {
    return this.#manager.findOneBy(Session, { id });
  }

  async insert(session: SessionRow): Promise<void> {
    await this.#manager.insert(Session, session);
  }

  /** Replaces `session.tokenHash` with `tokenHash`. Returns false if another refresh was first. */
  async rotate(session: SessionRow, tokenHash: string, rotatedAt: Date): Promise<boolean> {
    const { id, tokenHash: previousTokenHash } = session;
    const { affected } = await this.#manager.update(
      Session,
      { id, tokenHash: previousTokenHash },
      { tokenHash, previousTokenHash, rotatedAt },
    );
    return affected !== 0;
  }

  async delete(id: string): Promise<void> {
    await this.#manager.delete(Session, { id });
  }

  async deleteOthers(userId: string, keepId: string): Promise<void> {
    await this.#manager.delete(Session, { userId, id: Not(keepId) });
  }

  /** Returns the number of deleted sessions. */
  async deleteOf(userId: string): Promise<number> {
    const { affected } = await this.#manager.delete(Session, { userId });
    return affected ?? 0;
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.#manager.delete(Session, { expiresAt: LessThan(now) });
  }
}
