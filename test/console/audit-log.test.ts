import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest(
  "the audit log says who did what, and is filtered by action, person, time and thing",
  async (t) => {
    const gateway = await startTestGateway(t);
    const { key } = await gateway.admin.keys.create.mutate({ name: "Laptop" });
    await gateway.admin.keys.rename.mutate({ id: key.id, name: "Old laptop" });
    await gateway.admin.keys.create.mutate({ name: "Server" });
    const budgetsUsd = { day: 0.001, week: 5 };
    await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd } });
    await gateway.admin.keys.setLimits.mutate({ id: key.id, limits: { budgetsUsd: { day: null } } });

    const page = await openSignedIn(t, { browser: browser(), gateway, path: "/audit-log" });
    await page.getByRole("cell", { name: "Key renamed" }).waitFor();
    await assertAccessible(t, page);
    t.true(await page.getByText("Laptop → Old laptop").isVisible());
    t.true(await page.getByText("budgetsUsd.day: 0.001 → none", { exact: true }).isVisible());
    t.true(await page.getByText("budgetsUsd.week: none → 5", { exact: true }).isVisible());

    await page.getByLabel("Action").click();
    await page.getByRole("option", { name: "Key created" }).click();
    // The list of actions says it, too, while it closes.
    await page.getByRole("cell", { name: "Key renamed" }).waitFor({ state: "detached" });
    t.is(await page.getByRole("row").count(), 3);
    await page.getByLabel("Action").click();
    await page.getByRole("option", { name: "Any action" }).click();

    await page.getByRole("link", { name: "Old laptop" }).first().click();
    await page.getByRole("link", { name: "Server" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Everything" }).click();
    await page.getByRole("link", { name: "Server" }).waitFor();

    await page.getByLabel("Person").click();
    await page.getByRole("option", { name: "Ada" }).click();
    await page.getByLabel("Period").click();
    await page.getByRole("option", { name: "Last 7 days" }).click();
    await page.waitForURL(/\?actor=usr_\w+&period=week$/);
    await page.getByRole("link", { name: "Server" }).waitFor();
    await page.goto("/audit-log?action=key.delete");
    await page.getByText("Nothing matches").waitFor();
    await assertAccessible(t, page);
  },
);
