import { setTimeout as wait } from "node:timers/promises";
import { chatBody, postChat } from "../helpers/post-chat.ts";
import type { SeededRandom } from "../helpers/seeded-random.ts";
import type { Stage } from "./stage.ts";

type KnownKey = {
  id: string;
  value: string;
  /** The result of the last answered change. Null if a change failed, because it may have happened. */
  isActive: boolean | null;
  models: readonly string[] | null;
};

export type KeyLedger = { keys: KnownKey[]; answered: number; unanswered: number };

/** Changes keys one after the other, and remembers each answered change. */
export function changeKeys(stage: Stage, random: SeededRandom, pauseMs: number) {
  const ledger: KeyLedger = { keys: [], answered: 0, unanswered: 0 };
  const stopping = new AbortController();
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        await changeOne(stage, random, ledger.keys);
        ledger.answered++;
      } catch {
        ledger.unanswered++;
        await wait(50);
      }
      await wait(pauseMs);
    }
  };
  const running = run();
  return {
    ledger,
    async stop() {
      stopping.abort();
      await running;
      return ledger;
    },
  };
}

async function changeOne({ console, model }: Stage, random: SeededRandom, keys: KnownKey[]): Promise<void> {
  const [first, ...others] = keys.slice(-20);
  if (first === undefined || random.chance(0.5)) {
    const { key, value } = await console.keys.create.mutate({ name: `key ${keys.length}`, models: [model] });
    keys.push({ id: key.id, value, isActive: true, models: [model] });
    return;
  }
  const key = random.pick([first, ...others]);
  if (random.chance(0.6)) {
    // A second deactivation changes nothing, even if it fails.
    if (key.isActive === true) key.isActive = null;
    await console.keys.deactivate.mutate({ id: key.id });
    key.isActive = false;
    return;
  }
  const models = random.chance(0.5) ? [] : [model];
  key.models = null;
  const { revision } = await console.keys.get.query({ id: key.id });
  await console.keys.setModels.mutate({ id: key.id, models, revision });
  key.models = models;
}

/** Asks with every key, and compares with the ledger. */
export async function checkKeys(stage: Stage, { keys }: KeyLedger) {
  const counts = { lostChanges: 0, revived: 0, checked: 0 };
  for (const { id, value, isActive, models } of keys) {
    counts.checked++;
    const stored = await stage.console.keys.get.query({ id }).catch(() => null);
    const { status } = await postChat(stage, value, chatBody(stage.model));
    if (isActive === false && status !== 401) counts.revived++;
    const isActiveLost = isActive !== null && (stored?.status === "active") !== isActive;
    const isModelsLost = models !== null && stored?.models.join() !== models.join();
    if (stored === null || isActiveLost || isModelsLost) counts.lostChanges++;
  }
  return counts;
}
