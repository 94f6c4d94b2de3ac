import type { EntityManager } from "typeorm";
import { User, type UserRow } from "../entities/user.ts";

export class UserRepository {
  readonly #manager: EntityManager;

  constructor(manager: EntityManager) {
    this.#manager = manager;
  }

  count(): Promise<number> {
    return this.#manager.count(User);
  }

  find(id: string): Promise<UserRow | null> {
    return this.#manager.findOneBy(User, { id });
  }

  findByEmail(email: string): Promise<UserRow | null> {
    return this.#manager.findOneBy(User, { email });
  }

  async insert(user: UserRow): Promise<void> {
    await this.#manager.insert(User, user);
  }

  async updatePassword(id: string, passwordHash: string): Promise<void> {
    await this.#manager.update(User, { id }, { passwordHash });
  }
}
