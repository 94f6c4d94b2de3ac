import { hash } from "node:crypto";
import type { Repositories } from "../../db/database.ts";
import type { InvitationRow } from "../../db/entities/user.ts";
import type { Runtime } from "../runtime.ts";

/** A link's secret, which is told this once. */
export type InvitationToken = { token: string; expiresAt: Date };

/** A new link for a person, as part of the transaction that decided so. One that they had before ends. */
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

/** All that is stored of a token: 256 random bits cannot be guessed back. */
export function hashInvitation(token: string): string {
  return hash("sha256", token);
}

const lifetimeMs = 7 * 24 * 60 * 60_000;
