import { lazy } from "#lib/format/lazy.ts";
import { dayTime } from "#lib/format/relative-time.ts";
import { api } from "#lib/session/api.ts";

type MadeKey = { value: string; models: string[]; endsAt: number };

/** The key stays in this tab's memory. Signing out discards it, because the tab then loads a new page. */
let made: MadeKey | null = null;

/** Returns this tab's temporary key. Null if none exists, or if the key expires within a minute. */
export function findMadeKey(): MadeKey | null {
  if (made && made.endsAt - Date.now() < leftMsLeast) made = null;
  return made;
}

export async function makeKey(): Promise<MadeKey> {
  const models = (await api.models.list.query()).map(({ slug }) => slug);
  const endsAt = Date.now() + lifetimeMs;
  const { value } = await api.keys.create.mutate({
    // The time distinguishes the keys of several tabs and reloads.
    name: `Playground ${timeOfDay().format(Date.now())}`,
    models,
    expiresAt: new Date(endsAt).toISOString(),
  });
  made = { value, models, endsAt };
  return made;
}

/** Forgets a key that no longer works, such as a deleted key. */
export function forgetMadeKey(): void {
  made = null;
}

const timeOfDay = lazy(() => new Intl.DateTimeFormat("en", { timeStyle: "medium", ...dayTime }));
const lifetimeMs = 3_600_000;
const leftMsLeast = 60_000;
