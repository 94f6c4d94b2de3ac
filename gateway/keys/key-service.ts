import type { Database, Repositories } from "../../db/database.ts";
import { type ApiKeyRow, type ApiKeyValueRow, type HeldKey, noHolders } from "../../db/entities/api-key.ts";
import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { type AuditAction, type AuditLog, listSome } from "../audit/audit-log.ts";
import { can } from "../auth/permissions.ts";
import type { Author, Person } from "../auth/person.ts";
import { checkHolders } from "../auth/team-access.ts";
import { changedMeanwhile, GatewayError } from "../errors.ts";
import { createId } from "../ids.ts";
import { budgetMarks } from "../limits/budgets/budget-marks.ts";
import { noLimitColumns } from "../limits/limit-table.ts";
import { heldBy, type LimitsInForce } from "../limits/holders.ts";
import type { Runtime } from "../runtime.ts";
import { fromFactorColumn, toFactorColumn } from "../usage/counting/charge-factor.ts";
import { type ApiKey, type ListedApiKey, type NewApiKey, toApiKey } from "./api-key.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { modelIds, refusingDeletedModels } from "../limits/model-ids.ts";
import { editLimits, editModels, editStatus } from "./edit-key.ts";
import { findKey, noSuchKey, toKeyFilter } from "./find-key.ts";
import type { KeyFilter, KeyPage, LimitEdit, NewKey, SoughtKey } from "./key-inputs.ts";
import { generateKeyValue, lastFourOf } from "./key-value.ts";
import { type FoundKey, searchKeys } from "./search-keys.ts";
import { hashKeyValue } from "./authenticate-key.ts";

type KeyServiceOptions = {
  database: Database;
  runtime: Runtime;
  changeFeed: ChangeFeed;
  audit: AuditLog;
  limitsInForce: LimitsInForce;
};

/** Members see and change only their own keys, and leads also those of their team. */
export class KeyService {
  readonly #options: KeyServiceOptions;

  constructor(options: KeyServiceOptions) {
    this.#options = options;
  }

  /** Lists the newest keys first. */
  async list(person: Person, query: KeyPage): Promise<{ items: ListedApiKey[]; nextCursor: string | null }> {
    const { status, cursor: beforeId, limit = keysPerPage } = query;
    const { found, marks } = await this.#options.database.ask(person, async (repositories) => {
      const filter = await toKeyFilter(repositories, person, query, this.#options.runtime.now());
      const some = { status, beforeId, limit: limit + 1 };
      const found = filter ? await repositories.apiKeys.list({ ...filter, ...some }) : [];
      const rows = found.map(({ key }) => key);
      const defaults = this.#options.limitsInForce.defaultsOf("key");
      return { found, marks: await budgetMarks(repositories, rows, defaults, this.#options.runtime.now()) };
    });
    const items = found
      .slice(0, limit)
      .map((each) => ({ ...toApiKey(each), budgetSpentPercent: marks.get(each.key.id) ?? null }));
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.id ?? null) : null };
  }

  count(person: Person, query: KeyFilter): Promise<{ total: number; active: number; disabled: number }> {
    return this.#options.database.ask(person, async (repositories) => {
      const filter = await toKeyFilter(repositories, person, query, this.#options.runtime.now());
      if (!filter) return { total: 0, active: 0, disabled: 0 };
      const active = await repositories.apiKeys.count({ ...filter, status: "active" });
      const disabled = await repositories.apiKeys.count({ ...filter, status: "disabled" });
      return { total: active + disabled, active, disabled };
    });
  }

  get(person: Person, id: string): Promise<ApiKey> {
    return this.#options.database.read(async (repositories) =>
      toApiKey(await findKey(repositories, person, id)),
    );
  }

  find(person: Person, search: SoughtKey): Promise<FoundKey | null> {
    return this.#options.database.read((repositories) =>
      searchKeys(repositories, person, search, this.#options.runtime.now()),
    );
  }

  async create(author: Author, newKey: NewKey): Promise<NewApiKey> {
    const { name, models = [], expiresAt = null, limits = {}, ownerId = author.id, teamId = null } = newKey;
    const { columns } = this.#editLimits(
      author,
      { ...noLimitColumns, expiresAt: null },
      { expiresAt, limits },
    );
    const { key, value, row } = this.#newKey(name, { ownerId, teamId }, columns);
    const creating = this.#options.database.write(async (repositories) => {
      await checkHolders(repositories, author, { ownerId, teamId });
      if (!can(author, "keys.ofOthers")) await this.#checkCount(repositories, ownerId);
      await repositories.apiKeys.insert(key, row, await modelIds(repositories, models, this.#fenceOf(key)));
      const made = toApiKey(await findKey(repositories, author, key.id));
      const details = {
        models: listSome(made.models),
        expiresAt,
        owner: made.owner,
        ...(made.team && { team: made.team.name }),
        ...(newKey.limits && { limits: made.limits }),
      };
      await this.#options.audit.record(repositories, author, "key.create", made, details);
      return made;
    });
    return { key: await refusingDeletedModels(creating), value };
  }

  /** Returns the key value. The key of the first start has no owner. */
  async createFirst({ apiKeys }: Repositories, name: string, modelId: string): Promise<string> {
    const { key, value, row } = this.#newKey(name, noHolders, { ...noLimitColumns, expiresAt: null });
    await apiKeys.insert(key, row, [modelId]);
    return value;
  }

  rename(author: Author, { name, ...edited }: Edited & { name: string }): Promise<ApiKey> {
    return this.#change({ author, ...edited, action: "key.rename" }, async ({ apiKeys }, { key }) => {
      await apiKeys.update(key.id, { name });
      return { from: key.name, to: name };
    });
  }

  setModels(author: Author, { models, ...edited }: Edited & { models: string[] }): Promise<ApiKey> {
    return this.#change({ author, ...edited, action: "key.setModels" }, (repositories, before) =>
      editModels(repositories, author, before, { slugs: models, fence: this.#fenceOf(before.key) }),
    );
  }

  setLimits(author: Author, { id, revision, ...edit }: Edited & LimitEdit): Promise<ApiKey> {
    const change = { author, id, revision, action: "key.setLimits" } as const;
    return this.#change(change, async ({ apiKeys }, { key }) => {
      const { columns, details } = this.#editLimits(author, key, edit);
      await apiKeys.update(id, columns);
      return details;
    });
  }

  /** Null makes a team's key a service key. Throws `forbidden` for those who could not create such a key. */
  setOwner(author: Author, { ownerId, ...edited }: Edited & { ownerId: string | null }): Promise<ApiKey> {
    const change = { author, ...edited, action: "key.setOwner" } as const;
    return this.#change(change, async (repositories, { key, owner }) => {
      await checkHolders(repositories, author, { ownerId, teamId: key.teamId });
      await repositories.apiKeys.update(key.id, { ownerId });
      const to = ownerId === null ? null : (await repositories.users.find(ownerId))?.name;
      return { owner: { from: owner?.name ?? null, to } };
    });
  }

  /** A factor of 1.15 charges 15 % more than the cost. Null charges the cost. */
  setChargeFactor(
    author: Author,
    { chargeFactor: to, ...edited }: Edited & { chargeFactor: number | null },
  ): Promise<ApiKey> {
    const change = { author, ...edited, action: "key.setChargeFactor" } as const;
    return this.#change(change, async ({ apiKeys }, { key }) => {
      await apiKeys.update(key.id, { chargeFactor: toFactorColumn(to) });
      return { chargeFactor: { from: fromFactorColumn(key.chargeFactor), to } };
    });
  }

  activate(author: Author, id: string): Promise<ApiKey> {
    return this.#setStatus(author, id, "key.activate", "active");
  }

  deactivate(author: Author, id: string): Promise<ApiKey> {
    return this.#setStatus(author, id, "key.deactivate", "disabled");
  }

  /** The earlier values stay valid for `overlapSeconds` at most. */
  async rotate(author: Author, id: string, overlapSeconds: number): Promise<NewApiKey> {
    const value = generateKeyValue(this.#options.runtime);
    const validUntil = new Date(this.#options.runtime.now() + overlapSeconds * 1000);
    const key = await this.#change({ author, id, action: "key.rotate" }, async ({ apiKeys }) => {
      await apiKeys.replaceValue(this.#valueRow(id, value), validUntil);
      return { overlapSeconds };
    });
    return { key, value };
  }

  /** The key's usage stays in the history, under the key's name. */
  async delete(author: Author, id: string): Promise<void> {
    const { audit, changeFeed } = this.#options;
    await changeFeed.edit("api_key", async (repositories) => {
      const { key, owner } = await findKey(repositories, author, id);
      if (!(await repositories.apiKeys.delete(key.id))) throw noSuchKey();
      await audit.record(repositories, author, "key.delete", key, { owner });
      return [key.id, null];
    });
  }

  #setStatus(author: Author, id: string, action: AuditAction, status: ApiKeyRow["status"]): Promise<ApiKey> {
    return this.#change({ author, id, action }, async ({ apiKeys }, { key }) => {
      await apiKeys.update(id, editStatus(author, key, status));
      return {};
    });
  }

  /**
   * Throws `conflict` if the key no longer has the given revision.
   * @param work changes the current key and returns the audit details
   */
  async #change(
    { author, id, revision, action }: KeyChange,
    work: (repositories: Repositories, before: ApiKeyDetails) => Promise<Record<string, unknown>>,
  ): Promise<ApiKey> {
    const { audit, changeFeed } = this.#options;
    const changing = changeFeed.edit("api_key", async (repositories) => {
      // Without this check, `nextRevision` could lock another user's key.
      await findKey(repositories, author, id);
      const isCurrent = await repositories.apiKeys.nextRevision(id, revision);
      const before = await findKey(repositories, author, id);
      if (!isCurrent) throw changedMeanwhile("API key", before.key.revision);
      const details = await work(repositories, before);
      const after = toApiKey(await findKey(repositories, author, id));
      await audit.record(repositories, author, action, after, details);
      return [after.id, after];
    });
    return refusingDeletedModels(changing);
  }

  /** Throws `forbidden` if a member may own no further key. */
  async #checkCount({ apiKeys, changes }: Repositories, ownerId: string | null): Promise<void> {
    const keysMax = ownerId === null ? null : this.#options.limitsInForce.keysMaxOf(ownerId);
    if (ownerId === null || keysMax === null) return;
    // Otherwise concurrent calls could each create the last key.
    await changes.lock();
    if ((await apiKeys.count({ owner: { ownerId } })) < keysMax) return;
    const message =
      keysMax === 0
        ? "Members may not create keys. Ask an administrator for a key."
        : `A member may own at most ${keysMax} API keys. Delete a key, or ask an administrator.`;
    throw new GatewayError("forbidden", message);
  }

  #fenceOf(key: ApiKeyRow): ReadonlySet<string> | null {
    return this.#options.limitsInForce.of({ ...heldBy(key), limits: null }).fence;
  }

  #editLimits(author: Author, before: Parameters<typeof editLimits>[1], edit: LimitEdit) {
    const { runtime, limitsInForce } = this.#options;
    const defaults = limitsInForce.defaultsOf("key");
    return editLimits({ author, now: runtime.now(), defaults }, before, edit);
  }

  #newKey(name: string, holders: Omit<HeldKey, "id">, columns: ReturnType<typeof editLimits>["columns"]) {
    const value = generateKeyValue(this.#options.runtime);
    const id = createId("key", this.#options.runtime);
    const createdAt = new Date(this.#options.runtime.now());
    const start = {
      status: "active",
      disabledBy: null,
      lastUsedAt: null,
      revision: 1,
      chargeFactor: null,
    } as const;
    const key = { ...holders, id, name, createdAt, ...start, ...columns };
    return { key, value, row: this.#valueRow(id, value) };
  }

  #valueRow(apiKeyId: string, value: string): ApiKeyValueRow {
    const createdAt = new Date(this.#options.runtime.now());
    return { hash: hashKeyValue(value), apiKeyId, lastFour: lastFourOf(value), validUntil: null, createdAt };
  }
}

type Edited = { id: string; revision?: number | undefined };
type KeyChange = Edited & { author: Author; action: AuditAction };

const keysPerPage = 50;
