import {
  flag,
  id,
  index,
  moment,
  nullable,
  references,
  type RowOf,
  table,
  text,
  uniqueIndex,
} from "./table.ts";

export const User = table(
  "users",
  {
    id: id(),
    /** In lower case, so that two users cannot share an address. */
    email: text(254),
    name: text(255),
    /** argon2id in PHC string format. Empty until an invited user chooses a password. */
    passwordHash: text(255),
    role: text<Role>(16),
    status: text<UserStatus>(16),
    /** Whether keys work although the user is disabled. Only for those who were disabled before keys stopped. */
    keepKeys: flag({ default: false }),
    lastSignInAt: nullable(moment()),
    createdAt: moment(),
  },
  [uniqueIndex("users_email", ["email"])],
);

/** A signed-in browser, with one chain of single-use refresh tokens. */
export const Session = table(
  "sessions",
  {
    id: id(),
    userId: text(40, references("users", "CASCADE")),
    /** SHA-256 of the current refresh token's secret, in hex. */
    tokenHash: text(64),
    previousTokenHash: nullable(text(64)),
    rotatedAt: moment(),
    expiresAt: moment(),
    createdAt: moment(),
  },
  [index("sessions_user", ["userId"]), index("sessions_expiry", ["expiresAt"])],
);

/** A single-use link to choose a password. A new link replaces the user's earlier link. */
export const Invitation = table(
  "invitations",
  {
    /** SHA-256 of the link's token, as 64 hex digits. */
    tokenHash: id({ length: 64 }),
    userId: text(40, references("users", "CASCADE")),
    kind: text<"invitation" | "passwordReset">(16),
    expiresAt: moment(),
    createdAt: moment(),
  },
  [uniqueIndex("invitations_user", ["userId"])],
);

export type UserStatus = "invited" | "active" | "disabled";
export type InvitationRow = RowOf<typeof Invitation>;
export const roles = ["admin", "member"] as const;
export type Role = (typeof roles)[number];
export type UserRow = RowOf<typeof User>;
export type SessionRow = RowOf<typeof Session>;
