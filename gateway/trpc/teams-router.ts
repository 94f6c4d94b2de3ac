import * as z from "zod";
import { limitChanges, modelAccesses } from "../limits/limit-inputs.ts";
import { id, slugs } from "../inputs.ts";

import {
  formerMember,
  newTeam,
  peopleSearch,
  teamChange,
  teamMember,
  teamPage,
  teamStatusChange,
} from "../teams/team-inputs.ts";
import { procedure, procedureOfId, router } from "./trpc.ts";

export const teamsRouter = router({
  list: procedure
    .input(teamPage.default({ cursor: undefined }))
    .query(({ ctx, input }) => ctx.services.teams.list(ctx.person, input)),

  get: procedureOfId.query(({ ctx, input }) => ctx.services.teams.get(ctx.person, input.id)),

  people: procedure
    .input(peopleSearch)
    .query(({ ctx, input }) => ctx.services.teams.people(ctx.person, input.id, input.search)),

  create: procedure
    .input(newTeam)
    .mutation(({ ctx, input }) => ctx.services.teams.create(ctx.person, input.name)),

  update: procedure
    .input(teamChange)
    .mutation(({ ctx, input }) => ctx.services.teams.update(ctx.person, input)),

  setStatus: procedure
    .input(teamStatusChange)
    .mutation(({ ctx, input }) => ctx.services.teams.setStatus(ctx.person, input)),

  /** Null removes a limit. Missing limits keep their value. */
  setLimits: procedure
    .input(z.strictObject({ id, limits: limitChanges }))
    .mutation(async ({ ctx: { services, person }, input: { id: teamId, limits } }) => {
      await services.teams.get(person, teamId);
      await services.holderLimits.set(person, { holder: teamId, limits });
      return services.teams.get(person, teamId);
    }),

  /** Without `models`, the list stays as it is. */
  setModels: procedure
    .input(z.strictObject({ id, access: z.enum(modelAccesses), models: slugs.optional() }))
    .mutation(async ({ ctx: { services, person }, input: { id: teamId, access: modelAccess, models } }) => {
      await services.teams.get(person, teamId);
      await services.holderLimits.set(person, { holder: teamId, modelAccess, models });
      return services.teams.get(person, teamId);
    }),

  addMember: procedure
    .input(teamMember)
    .mutation(({ ctx, input }) => ctx.services.teams.addMember(ctx.person, input)),

  setRole: procedure
    .input(teamMember)
    .mutation(({ ctx, input }) => ctx.services.teams.setRole(ctx.person, input)),

  removeMember: procedure
    .input(formerMember)
    .mutation(({ ctx, input }) => ctx.services.teams.removeMember(ctx.person, input)),
});
