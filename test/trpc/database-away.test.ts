import test from "ava";
import { callProcedure } from "../helpers/call-procedure.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

/** Some procedures need no database: they clear a cookie, miss one, or compare a computed token. */
const withoutDatabase = ["auth.refresh", "auth.signOut", "auth.setUpToken"];

test("without a database every procedure reports it, with a retry time", async (t) => {
  const gateway = await startTestGateway(t, { environment: { DATABASE_TIMEOUT_MS: "1000" } });
  const { accessToken, services } = gateway;
  const thaw = Promise.withResolvers<void>();
  services.database.read(() => thaw.promise).catch(() => {});

  const answers = await Promise.all(
    procedures
      .filter(({ path }) => !withoutDatabase.includes(path))
      .map(async ({ path, type }) => {
        const token = services.accounts.setUpToken;
        const usual = procedureTable[path]?.input;
        const input = path === "auth.setUp" ? { ...usual, token } : usual;
        return { path, answer: await callProcedure(gateway, path, { type, input, accessToken }) };
      }),
  );
  thaw.resolve();

  for (const { path, answer } of answers) {
    t.is(answer.status, 503, `${path}: ${answer.text}`);
    t.like(answer.error?.data, { code: "SERVICE_UNAVAILABLE", retryAfterSeconds: 1 }, path);
    t.regex(answer.error?.data.requestId ?? "", /^req_[0-9a-z]{26}$/, path);
    t.is(answer.error?.data.requestId, answer.headers["x-request-id"] as string, path);
    t.is(answer.error?.message, "The gateway cannot reach its database. Retry in a moment.");
  }
  t.true((await gateway.admin.keys.list.query()).items.length > 0, "after it");
});
