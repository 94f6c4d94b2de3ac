import type { Outputs } from "#lib/session/api.ts";

/** Who has limits for a key's requests, beside the key. */
export type HolderKind = keyof Outputs["overview"]["budgets"];

export const holderKinds: Record<HolderKind, KindWords> = {
  person: {
    whose: "owner's",
    ofKey: "of its owner",
    budgetsOf: "Owner's keys",
    budgetsOfMine: "All your keys",
    exceeded: "The owner's keys exceeded their",
    rejected: "Requests with these keys",
    page: ({ ownerId }) => (ownerId === undefined ? "/limits?tab=people" : `/people/${ownerId}`),
  },
  team: {
    whose: "team's",
    ofKey: "of its team",
    budgetsOf: "Team",
    budgetsOfMine: "Team",
    exceeded: "The team exceeded its",
    rejected: "Requests with the team's keys",
    page: ({ teamId }) => `/teams/${teamId}`,
  },
  gateway: {
    whose: "gateway's",
    ofKey: "of the gateway",
    budgetsOf: "Gateway",
    budgetsOfMine: "Gateway",
    exceeded: "The gateway exceeded its",
    rejected: "All requests",
    page: () => "/limits",
  },
};

type KindWords = {
  whose: string;
  ofKey: string;
  budgetsOf: string;
  budgetsOfMine: string;
  exceeded: string;
  rejected: string;
  /** Where its limits are set. */
  page: (key: { ownerId: string | undefined; teamId: string | undefined }) => string;
};

/** The kinds, in the order of their narrowness. */
export const kinds = Object.keys(holderKinds) as HolderKind[];

/** "one, two and three" */
export function listed(words: readonly string[]): string {
  return new Intl.ListFormat("en-GB").format(words);
}

type HolderWords = { title: string; description: string; /** Of its list of models. */ models?: string };

export const sharedHolders: Record<string, HolderWords> = {
  gateway: {
    title: "Gateway",
    description: "For all API keys together.",
  },
  people: {
    title: "Each person",
    description: "For all API keys of one person together. A person's own limits replace these.",
    models: "For the API keys of each person. A person's own list replaces this one.",
  },
  keys: {
    title: "Each API key",
    description: "For each API key. A key's own limits replace these.",
  },
};

export function holderWords(holder: string): HolderWords {
  return sharedHolders[holder] ?? (holder.startsWith("tem_") ? ofTeam : ofPerson);
}

const ofTeam = {
  title: "Limits",
  description: "For all API keys that the team pays for together.",
  models: "For the API keys that the team pays for.",
};

const ofPerson = {
  title: "Limits",
  description: "For all API keys of this person together. They replace the limits of each person.",
  models: "For the API keys of this person. A list replaces that of each person.",
};
