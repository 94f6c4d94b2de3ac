import * as z from "zod";
import { auditActions, listActions } from "../audit/audit-log.ts";
import { cursor, id, moment, pageLimit, search } from "../inputs.ts";
import { procedure, router } from "./trpc.ts";

export const auditRouter = router({
  list: procedure
    .input(
      z
        .strictObject({
          actorId: id.optional(),
          action: z.enum(auditActions).optional(),
          entityId: id.optional(),
          search,
          from: moment.optional(),
          to: moment.optional(),
          cursor,
          limit: pageLimit,
        })
        .default({ cursor: undefined }),
    )
    .query(({ ctx, input }) => ctx.services.audit.list(input)),

  actions: procedure.query(() => listActions()),
});
