import packageJson from "../../package.json" with { type: "json" };
import { procedure, router } from "./trpc.ts";

export const gatewayRouter = router({
  /** What clients have to know of this gateway. Null where its address is not configured: it is then as the page was reached. */
  info: procedure.query(({ ctx }) => ({ publicUrl: ctx.configuredUrl, version: packageJson.version })),
});
