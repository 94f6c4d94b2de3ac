import { id, index, moment, nullable, references, type RowOf, table, text, uniqueIndex } from "./table.ts";

/** A person who may use the console. */
export const User = table(
  "users",
  {
    id: id(),
    /** Lower case, so that one address is one person. */
    email: text(254),
    name: text(255),
    /** argon2id, in PHC string format. */
    passwordHash: text(255),
    role: text<Role>(16),
    status: text<"active" | "disabled">(16),
    createdAt: moment(),
  },
  [uniqueIndex("users_email", ["email"])],
);

/** A signed-in browser: one chain ("family") of refresh tokens, of which only the newest counts. */
export const Session = table(
  "sessions",
  {
    id: id(),
    userId: text(40, references("users", "CASCADE")),
    /** SHA-256 of the refresh token that counts now, and of the one it replaced, in hex. */
    tokenHash: text(64),
    previousTokenHash: nullable(text(64)),
    rotatedAt: moment(),
    expiresAt: moment(),
    createdAt: moment(),
  },
  [index("sessions_user", ["userId"]), index("sessions_expiry", ["expiresAt"])],
);

export type Role = "admin" | "member";
export type UserRow = RowOf<typeof User>;
export type SessionRow = RowOf<typeof Session>;
