import * as z from "zod";
import { teamRoles, teamStatuses } from "../../db/entities/team.ts";
import { cursor, id, name, pageLimit, search } from "../inputs.ts";

const status = z.enum(teamStatuses);

export const teamPage = z.strictObject({ search, status: status.optional(), cursor, limit: pageLimit });
export type TeamPage = z.output<typeof teamPage>;

export const teamStatusChange = z.strictObject({ id, status });
export type TeamStatusChange = z.output<typeof teamStatusChange>;

export const newTeam = z.strictObject({ name });

export const teamChange = z.strictObject({ id, name });
export type TeamChange = z.output<typeof teamChange>;

export const teamMember = z.strictObject({ id, userId: id, role: z.enum(teamRoles).default("member") });
export type TeamMemberChange = z.output<typeof teamMember>;

export const formerMember = z.strictObject({ id, userId: id });

export const peopleSearch = z.strictObject({ id, search });
