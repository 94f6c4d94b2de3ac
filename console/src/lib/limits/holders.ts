import { api, type Outputs } from "#lib/session/api.ts";

export type HolderLimits = Outputs["limits"]["get"];

/** @param holder `gateway`, `people`, `keys`, or the ID of a person */
export function limitsQuery(holder: string) {
  return { queryKey: ["limits", holder], queryFn: () => api.limits.get.query({ holder }) };
}
