import { createQuery } from "@tanstack/svelte-query";
import { api, type Outputs } from "#lib/session/api.ts";
import { session } from "#lib/session/session.svelte.ts";

export type Team = Outputs["teams"]["get"];
export type ListedTeam = Outputs["teams"]["list"]["items"][number];
export type TeamStatus = Team["status"];

/** The newest teams that the user may see. Without a team, the console shows no trace of teams. */
export function createTeamsQuery() {
  return createQuery(() => ({
    queryKey: ["teams", "all"],
    queryFn: () => api.teams.list.query({ limit: 200 }),
    staleTime: 60_000,
  }));
}

export function teamQuery(id: string) {
  return { queryKey: ["teams", "one", id], queryFn: () => api.teams.get.query({ id }) };
}

/** Whether the user may create keys of the team for others, and manage its members. */
export function canLead({ role }: ListedTeam): boolean {
  return role === "lead" || session.can("teams.ofOthers");
}

export const statusWords: Record<TeamStatus, { label: string; notice: string | null }> = {
  active: { label: "Active", notice: null },
  paused: { label: "Paused", notice: "This team is paused." },
  archived: { label: "Archived", notice: "This team is archived." },
};
