import { type EntityManager, In, LessThan, Not } from "typeorm";
import { User, type UserRow } from "../entities/user.ts";
import { containing } from "./containing.ts";

export type UserPage = { search?: string | undefined; beforeId?: string | undefined; limit: number };

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

  /** Lists the newest users first. `search` matches a part of the name or the email address. */
  list({ search, beforeId, limit }: UserPage): Promise<UserRow[]> {
    const before = beforeId === undefined ? {} : { id: LessThan(beforeId) };
    const found = search && containing(search);
    return this.#manager.find(User, {
      where: found
        ? [
            { ...before, name: found },
            { ...before, email: found },
          ]
        : before,
      order: { id: "DESC" },
      take: limit,
    });
  }

  /** The names of the users, by ID. Omits unknown IDs. */
  async namesOf(ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const users = await this.#manager.find(User, {
      select: { id: true, name: true },
      where: { id: In(ids) },
    });
    return new Map(users.map(({ id, name }) => [id, name]));
  }

  hasOtherAdministrator(id: string): Promise<boolean> {
    return this.#manager.existsBy(User, { id: Not(id), role: "admin", status: "active" });
  }

  async insert(user: UserRow): Promise<void> {
    await this.#manager.insert(User, user);
  }

  /** Returns false, without a change, if the stored password hash differs from `from`. */
  async replacePassword(id: string, from: string, to: string): Promise<boolean> {
    const { affected } = await this.#manager.update(User, { id, passwordHash: from }, { passwordHash: to });
    return affected !== 0;
  }

  async update(id: string, changes: Partial<Omit<UserRow, "id" | "createdAt">>): Promise<void> {
    await this.#manager.update(User, { id }, changes);
  }
}
