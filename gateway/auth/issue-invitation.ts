import { hash } from "node:crypto";
import type { Repositories } from "../../db/database.ts";
import type { InvitationRow } from "../../db/entities/user.ts";
import type { Runtime } from "../runtime.ts";

/** A link's secret, returned once. */
export type InvitationToken = { token: string; expiresAt: Date };

/** Creates a link for a user within the caller's transaction. It replaces an earlier one. */
export async function issueInvitation(
  { invitations }: Repositories,
  { now, randomBytes }: Pick<Runtime, "now" | "randomBytes">,
  userId: string,
  kind: InvitationRow["kind"],
): Promise<InvitationToken> {
  const token = randomBytes(32).toString("base64url");
  const createdAt = new Date(now());
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs);
  await invitations.replace({ tokenHash: hashInvitation(token), userId, kind, expiresAt, createdAt });
  return { token, expiresAt };
}

/** The only stored form of a token. 256 random bits need no salt. */
export function hashInvitation(token: string): string {
  return hash("sha256", token);
}

const lifetimeMs = 7 * 24 * 60 * 60_000;
