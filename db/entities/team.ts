import { id, index, moment, references, type RowOf, table, text, uniqueIndex } from "./table.ts";

/** Pays for API keys. A team is archived and never deleted, so that the history keeps its name. */
export const Team = table(
  "teams",
  {
    id: id(),
    name: text(255),
    /** The keys of a team that is not active do not work. */
    status: text<TeamStatus>(16),
    createdAt: moment(),
  },
  [uniqueIndex("teams_name", ["name"])],
);

export const TeamMember = table(
  "team_members",
  {
    teamId: id(references("teams", "CASCADE")),
    userId: id(references("users", "CASCADE")),
    role: text<TeamRole>(16),
    createdAt: moment(),
  },
  [index("team_members_user", ["userId"])],
);

export const teamStatuses = ["active", "paused", "archived"] as const;
export type TeamStatus = (typeof teamStatuses)[number];
/** A lead manages the team's keys and members. */
export const teamRoles = ["lead", "member"] as const;
export type TeamRole = (typeof teamRoles)[number];
export type TeamRow = RowOf<typeof Team>;
export type TeamMemberRow = RowOf<typeof TeamMember>;
