import * as z from "zod";
import { auditActions, listActions } from "../audit/audit-log.ts";
import { cursor, id, moment, pageLimit, search } from "./inputs.ts";
import { adminProcedure, router } from "./trpc.ts";

export const auditRouter = router({
  list: adminProcedure
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

  actions: adminProcedure.query(() => listActions()),
});
