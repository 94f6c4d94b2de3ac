import type { EntityManager } from "typeorm";
import { Invitation, type InvitationRow } from "../entities/user.ts";

export class InvitationRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  find(tokenHash: string): Promise<InvitationRow | null> {
    return this.#manager.findOneBy(Invitation, { tokenHash });
  }

  async replace(invitation: InvitationRow): Promise<void> {
    await this.deleteOf(invitation.userId);
    await this.#manager.insert(Invitation, invitation);
  }

  /** Returns whether the invitation existed: of two concurrent uses, only one returns true. */
  async delete(tokenHash: string): Promise<boolean> {
    const { affected } = await this.#manager.delete(Invitation, { tokenHash });
    return affected !== 0;
  }

  async deleteOf(userId: string): Promise<void> {
    await this.#manager.delete(Invitation, { userId });
  }
}
