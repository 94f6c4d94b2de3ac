import type { Repositories } from "../../db/database.ts";
import type { ApiKeyRow } from "../../db/entities/api-key.ts";
import type { LimitColumns } from "../../db/entities/limits.ts";
import type { ApiKeyDetails } from "../../db/repositories/api-key-repository.ts";
import { differences, listSome } from "../audit/audit-log.ts";
import { can } from "../auth/permissions.ts";
import type { Person } from "../auth/person.ts";
import { GatewayError } from "../errors.ts";
import { changeLimits, findLooserLimit, firstLimits, limitNames, toLimits } from "../limits/limit-table.ts";
import { modelIds } from "../limits/model-ids.ts";
import type { LimitEdit } from "./key-inputs.ts";

/**
 * Returns the audit details. Withholds models that an administrator removes from another user's key. Throws
 * `forbidden` if a member adds a withheld model, and `invalid_value` for a new model that the payer may not use.
 */
export async function editModels(
  repositories: Repositories,
  author: Person,
  { key, models, withheldModels }: ApiKeyDetails,
  { slugs, fence }: { slugs: string[]; fence: ReadonlySet<string> | null },
): Promise<Record<string, unknown>> {
  const ids = await modelIds(repositories, slugs, fence, new Set(models.map(({ id }) => id)));
  const [before, after] = [new Set(models.map(({ slug }) => slug)), new Set(slugs)];
  const added = [...after].filter((slug) => !before.has(slug));
  const removed = [...before].filter((slug) => !after.has(slug));
  if (can(author, "keys.overrule")) {
    await repositories.withheldModels.remove(key.id, [...slugs, ...removed]);
    if (isOverruling(author, key)) await repositories.withheldModels.add(key.id, removed);
  } else {
    checkNotWithheld(added, withheldModels);
  }
  await repositories.apiKeys.setModels(key.id, ids);
  return { added: listSome(added), removed: listSome(removed) };
}

function checkNotWithheld(added: string[], withheldModels: string[]): void {
  const allWithheld = new Set(withheldModels);
  const withheld = added.filter((slug) => allWithheld.has(slug));
  if (withheld.length === 0) return;
  const them = withheld.length === 1 ? "it" : "them";
  const message = `An administrator removed ${withheld.join(", ")} from this key. Ask an administrator to connect ${them} again.`;
  throw new GatewayError("forbidden", message, { param: "models" });
}

function isOverruling(author: Person, { ownerId }: Pick<ApiKeyRow, "ownerId">): boolean {
  return can(author, "keys.overrule") && author.id !== ownerId;
}

type StatusColumns = Pick<ApiKeyRow, "status" | "disabledBy">;

/**
 * Throws `forbidden` if a member activates a key that an administrator deactivated, or an owner a key that a lead of
 * the team deactivated. Others than the owner who see a key are administrators or leads.
 */
export function editStatus(
  author: Person,
  before: StatusColumns & Pick<ApiKeyRow, "ownerId">,
  status: ApiKeyRow["status"],
): StatusColumns {
  const isOwner = author.id === before.ownerId;
  const decided = before.status === "disabled" ? before.disabledBy : null;
  if (status === "disabled") {
    if (decided === "admin" || isOverruling(author, before)) return { status, disabledBy: "admin" };
    return { status, disabledBy: decided === "lead" || !isOwner ? "lead" : "owner" };
  }
  if (can(author, "keys.overrule")) return { status, disabledBy: null };
  if (decided === "admin") {
    const message = "An administrator deactivated this key. Ask an administrator to activate it.";
    throw new GatewayError("forbidden", message);
  }
  if (decided === "lead" && isOwner) {
    const message = "A lead of the team deactivated this key. Ask a lead or an administrator to activate it.";
    throw new GatewayError("forbidden", message);
  }
  return { status, disabledBy: null };
}

/** `defaults` apply to keys without limits of their own. */
type EditLimitsOptions = { author: Person; now: number; defaults: LimitColumns };

type LimitedRow = LimitColumns & Pick<ApiKeyRow, "expiresAt">;

/**
 * Returns the edited limits and the audit details. Throws `invalid_value` for a new expiry in the past, and
 * `forbidden` if a member loosens a limit.
 */
export function editLimits(
  { author, now, defaults }: EditLimitsOptions,
  before: LimitedRow,
  { limits = {}, expiresAt = before.expiresAt }: LimitEdit,
): { columns: LimitedRow; details: Record<string, unknown> } {
  if (expiresAt?.getTime() !== before.expiresAt?.getTime() && expiresAt && expiresAt.getTime() <= now) {
    const message = `The expiry ${expiresAt.toISOString()} is in the past. Choose a later time.`;
    throw new GatewayError("invalid_value", message, { param: "expiresAt" });
  }
  const columns = { ...changeLimits(before, limits), expiresAt };
  if (!can(author, "keys.overrule")) checkNotLooser(before, columns, defaults);
  const describe = (row: LimitedRow) => ({ ...toLimits(row), expiresAt: row.expiresAt });
  return { columns, details: differences(describe(before), describe(columns), [...limitNames, "expiresAt"]) };
}

function checkNotLooser(from: LimitedRow, to: LimitedRow, defaults: LimitColumns): void {
  const looser = findLooserLimit(firstLimits(from, defaults), firstLimits(to, defaults));
  const isLater = from.expiresAt !== null && (to.expiresAt === null || to.expiresAt > from.expiresAt);
  if (looser === undefined && !isLater) return;
  const message =
    "Only an administrator can loosen or remove a limit. Enter a stricter limit, or ask an administrator.";
  throw new GatewayError("forbidden", message, {
    param: looser === undefined ? "expiresAt" : `limits.${looser}`,
  });
}
