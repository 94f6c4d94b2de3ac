import { dayTime } from "#lib/format/relative-time.ts";
import { api } from "#lib/session/api.ts";

type MadeKey = { value: string; models: string[]; endsAt: number };

/**
 * In this tab's memory alone, so that each visit does not leave another key behind. Signing out loads the page anew, and
 * with that it is gone.
 */
let made: MadeKey | null = null;

/** The key that the playground made in this tab, unless it has ended or is about to. */
export function findMadeKey(): MadeKey | null {
  if (made && made.endsAt - Date.now() < leftMsLeast) made = null;
  return made;
}

/** A key that ends by itself, for every model that whoever is signed in may connect. */
export async function makeKey(): Promise<MadeKey> {
  const models = (await api.models.list.query()).map(({ slug }) => slug);
  const endsAt = Date.now() + lifetimeMs;
  const { value } = await api.keys.create.mutate({
    // Two of them, from two tabs or from before a reload, are told apart in the list.
    name: `Playground ${timeOfDay.format(Date.now())}`,
    models,
    expiresAt: new Date(endsAt).toISOString(),
  });
  made = { value, models, endsAt };
  return made;
}

/** It does not work any more: somebody may have deleted it. */
export function forgetMadeKey(): void {
  made = null;
}

const timeOfDay = new Intl.DateTimeFormat("en", { timeStyle: "medium", ...dayTime });
const lifetimeMs = 3_600_000;
const leftMsLeast = 60_000;
