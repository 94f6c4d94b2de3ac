import { api, type Outputs } from "#lib/session/api.ts";

export type HolderLimits = Outputs["limits"]["get"];

/** @param holder `gateway`, `people`, `keys`, or the ID of a person */
export function limitsQuery(holder: string) {
  return { queryKey: ["limits", holder], queryFn: () => api.limits.get.query({ holder }) };
}

type HolderWords = { title: string; description: string };

export const sharedHolders: Record<string, HolderWords> = {
  gateway: {
    title: "Gateway",
    description: "For all API keys together.",
  },
  people: {
    title: "Each person",
    description: "For all API keys of one person together. A person's own limits replace these.",
  },
  keys: {
    title: "Each API key",
    description: "For each API key. A key's own limits replace these.",
  },
};

export function holderWords(holder: string): HolderWords {
  return sharedHolders[holder] ?? ofPerson;
}

const ofPerson = {
  title: "Limits",
  description: "For all API keys of this person together. They replace the limits of each person.",
};
