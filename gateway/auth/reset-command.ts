import type { Database } from "../../db/database.ts";
import { StartError } from "../errors.ts";
import { formatJoinLink } from "./invitation-service.ts";
import { can } from "./permissions.ts";
import { normalizeEmail } from "./person.ts";
import type { UserService } from "./user-service.ts";

type ResetOptions = { database: Database; users: UserService; consoleUrl: string };

/**
 * `people:reset ada@example.com`: prints a password reset link, in case no administrator can sign in.
 * Throws a `StartError` for an unknown address.
 */
export async function resetCommand(
  { database, users, consoleUrl }: ResetOptions,
  email: string,
  print: (line: string) => void,
): Promise<void> {
  const found = await database.read((repositories) => repositories.users.findByEmail(email));
  if (!found) throw new StartError(`No user has the address ${email}. ${await nameAdministrators(users)}`);
  const { user, token, expiresAt } = await users.resetPassword(commandLine, found.id);
  print(
    `Single-use password reset link for ${user.name} (${user.email}), valid until ${expiresAt.toISOString()}:`,
  );
  print("");
  print(formatJoinLink(consoleUrl, token));
}

/** Throws a `StartError` unless there is exactly one parameter. */
export function readAddress(parameters: string[]): string {
  const [email, ...more] = parameters;
  if (email !== undefined && more.length === 0) return normalizeEmail(email);
  throw new StartError(
    "The command takes exactly one email address. Use: npm run people:reset -- ada@example.com",
  );
}

/** The actor in the audit log. No user is signed in on the command line. */
const commandLine = { id: null, name: null, address: "command line" };

async function nameAdministrators(users: UserService): Promise<string> {
  const administrators: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await users.list({ limit: 200, cursor });
    const active = page.items.filter((user) => can(user, "users.setRole") && user.status === "active");
    administrators.push(...active.map(({ email }) => email));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return administrators.length === 0
    ? "Check the address."
    : `Use an existing user's address. Administrators: ${administrators.join(", ")}.`;
}
