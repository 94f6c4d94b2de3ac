import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { addPerson } from "../helpers/call-procedure.ts";
import { openConsole, openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { hostileNames } from "../helpers/hostile-names.ts";
import { linkToken } from "../helpers/link-token.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("an invited person joins by the link, which works once", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Name").fill("Grace");
  await page.getByLabel("Email").fill("grace@example.com");
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Create invite link" }).click();
  await page.getByRole("heading", { name: "Link for Grace" }).waitFor();
  await assertAccessible(t, page);
  await page.keyboard.press("Escape");
  t.true(await page.getByRole("heading", { name: "Link for Grace" }).isVisible(), "not closed by accident");
  await page.getByRole("button", { name: "Copy link" }).click();
  const link = await page.evaluate<string>("navigator.clipboard.readText()");
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Invited", { exact: true }).waitFor();

  const theirs = await openConsole(t, {
    browser: browser(),
    gateway,
    path: link.slice(gateway.url.length),
  });
  await theirs.getByLabel("Password").waitFor();
  await theirs.waitForURL(`${gateway.url}/join`);
  await assertAccessible(t, theirs);
  t.is(await theirs.getByLabel("Email").inputValue(), "grace@example.com");
  await theirs.getByLabel("Password").fill("a password of Grace");
  await theirs.getByRole("button", { name: "Join" }).click();
  await theirs.getByRole("heading", { name: "Overview" }).waitFor();
  // Members do not manage people.
  t.is(await theirs.getByRole("link", { name: "People" }).count(), 0);
  await theirs.goto("/people");
  await theirs.getByRole("heading", { name: "Administrators only" }).waitFor();
  await assertAccessible(t, theirs);

  const late = await openConsole(t, {
    browser: browser(),
    gateway,
    path: link.slice(gateway.url.length),
  });
  await late.getByRole("heading", { name: "This link is invalid" }).waitFor();
  await assertAccessible(t, late);
});

browserTest("a join token leaves the address bar and appears in no requested URL", async (t) => {
  const gateway = await startTestGateway(t);
  const { link } = await gateway.admin.users.invite.mutate({ name: "Grace", email: "grace@example.com" });
  const token = linkToken(link);
  // Links of earlier releases have the token in the query.
  for (const path of [`/join#token=${token}`, `/join?token=${token}`]) {
    const page = await openConsole(t, { browser: browser(), gateway, path: "/sign-in" });
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.url()));
    await page.goto(path);
    await page.waitForURL(`${gateway.url}/join`);
    await page.getByLabel("Password").waitFor();
    t.is(sent.filter((url) => url.includes(token)).length, path.includes("?") ? 1 : 0, path);
    await page.goBack();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.goForward();
    await page.getByRole("heading", { name: "This link is incomplete" }).waitFor();
    await assertAccessible(t, page);
    // A new hash keeps the document.
    await page.goto(`/join#token=${token}`);
    await page.getByLabel("Password").waitFor();
    await page.waitForURL(`${gateway.url}/join`);
  }
});

browserTest("roles change, people are disabled and enabled, and one administrator stays", async (t) => {
  const gateway = await startTestGateway(t);
  await addPerson(gateway, "grace@example.com");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  const actionsFor = (name: string) => page.getByRole("button", { name: `Actions for ${name}` });

  await actionsFor("Ada").click();
  await page.getByRole("menuitem", { name: "Make member" }).click();
  await page.getByText("Ada is the last active administrator").waitFor();

  await actionsFor("grace@example.com").click();
  await page.getByRole("menuitem", { name: "Make administrator" }).click();
  await page.getByText("is now an administrator").waitFor();

  await actionsFor("grace@example.com").click();
  await page.getByRole("menuitem", { name: "Disable" }).click();
  await assertAccessible(t, page);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("cell", { name: "Disabled" }).waitFor();
  await actionsFor("grace@example.com").click();
  await page.getByRole("menuitem", { name: "Enable" }).click();
  await page.getByRole("cell", { name: "Disabled" }).waitFor({ state: "detached" });

  await actionsFor("grace@example.com").click();
  await page.getByRole("menuitem", { name: "Create reset link" }).click();
  await page.getByRole("button", { name: "Create link" }).click();
  await page.getByRole("heading", { name: "Link for grace@example.com", exact: true }).waitFor();
  const { status } =
    (await gateway.admin.users.list.query()).items.find(({ email }) => email === "grace@example.com") ?? {};
  t.is(status, "active");
});

browserTest("people's names are rendered as text", async (t) => {
  const gateway = await startTestGateway(t);
  for (const [place, name] of hostileNames.entries()) {
    await gateway.admin.users.invite.mutate({ name, email: `p${place}@example.com`, role: "member" });
  }
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  for (const name of hostileNames) await page.getByText(name, { exact: true }).first().waitFor();
  await assertAccessible(t, page);
  await page.goto("/audit-log");
  for (const name of hostileNames)
    await page.getByText(name, { exact: true }).filter({ visible: true }).first().waitFor();
  await assertAccessible(t, page);
});

browserTest("an administrator who gives up the role sees a member's console at once", async (t) => {
  const gateway = await startTestGateway(t);
  await addPerson(gateway, "grace@example.com", "admin");
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/people" });
  await page.getByRole("row", { name: "· you" }).getByRole("button", { name: "Actions for" }).click();
  await page.getByRole("menuitem", { name: "Make member" }).click();
  await page.getByRole("link", { name: "Audit log" }).first().waitFor({ state: "detached" });
  t.is(await page.getByRole("link", { name: "People" }).count(), 0);
});
