import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { becomePerson, openSignedIn, shareBrowser, visit } from "../helpers/chromium.ts";
import { spendCent, startPriced } from "../helpers/priced-gateway.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";
import { choose } from "./console-actions.ts";

const browser = shareBrowser(test);

browserTest("a team gets a budget, a member and a key, and its usage is shown", async (t) => {
  const gateway = await startPriced(t, {});
  const grace = await addPerson(gateway, "grace@example.com");
  const viewport = { width: 360, height: 780 };
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  await page.getByRole("link", { name: "Teams", exact: true }).click();
  await page.getByText("No teams yet").waitFor();
  await page.getByRole("button", { name: "Create team" }).first().click();
  await page.getByRole("dialog", { name: "Create team" }).getByLabel("Name").fill("Search");
  await page.getByRole("dialog").getByRole("button", { name: "Create team" }).click();
  await page.getByRole("heading", { name: "Search" }).waitFor();

  await page.getByLabel("Monthly budget").fill("0.02");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("$0.00 of $0.02 spent").waitFor();

  await page.getByRole("button", { name: "Add member" }).click();
  const dialog = page.getByRole("dialog", { name: "Add member" });
  await dialog.getByLabel("Person", { exact: true }).fill("grace");
  await page.getByRole("option", { name: /grace@example\.com/ }).click();
  await choose(page, "Role", "Lead");
  await dialog.getByRole("button", { name: "Add member" }).click();
  const members = page.getByRole("region", { name: "Members" });
  await members.getByText("Lead", { exact: true }).waitFor();
  await assertAccessible(t, page);
  await page.setViewportSize(viewport);
  await assertAccessible(t, page);

  await page.getByRole("link", { name: "Create key" }).click();
  await page.getByLabel("Name").fill("Indexer");
  await page.getByLabel("Service key").check();
  await page.getByRole("checkbox", { name: "demo/echo" }).check();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Copy key" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("heading", { name: "Indexer" }).waitFor();
  const { items } = await gateway.admin.keys.list.query();
  const made = items.find(({ name }) => name === "Indexer");
  t.like(made, { owner: null, team: { name: "Search" } });

  const teamId = made?.team?.id ?? "";
  const criteria = { name: "Spender", models: ["demo/echo"], teamId, ownerId: null };
  const { key, value } = await gateway.admin.keys.create.mutate(criteria);
  for (let cent = 0; cent < 2; cent++) t.is((await spendCent(gateway, value)).status, 200);
  t.is((await spendCent(gateway, value)).status, 402);
  await gateway.services.recorder.flush();

  await becomePerson(page, grace, `/keys?team=${teamId}`);
  await page.getByRole("link", { name: "Spender" }).click();
  await page.getByText("The team exceeded its budget.").waitFor();
  await page.getByText("Search", { exact: true }).waitFor();
  await visit(page, `/usage?team=${teamId}`);
  await page
    .getByRole("region", { name: "Breakdown" })
    .getByRole("link", { name: "demo/echo" })
    .or(page.getByRole("region", { name: "Breakdown" }).getByRole("button", { name: "demo/echo" }))
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Team: Search" }).waitFor();

  await gateway.admin.teams.setStatus.mutate({ id: teamId, status: "paused" });
  await visit(page, `/keys/${key.id}`);
  await page.reload();
  await page.getByText("The team of this key is not active.").waitFor();
  await visit(page, `/teams/${teamId}`);
  await page.getByText("This team is paused.").waitFor();
  t.is(await page.getByLabel("Monthly budget").count(), 0, "leads see limits and do not set them");
});

browserTest("a gateway without teams shows no trace of them", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys/new" });
  for (const path of ["/keys/new", "/keys", "/usage", "/requests", "/limits", "/people", "/"]) {
    await visit(page, path);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    t.notRegex(await page.locator("body").innerText(), /\bteams?\b/i, path);
  }
});
