import test from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { goodKey } from "../helpers/listing-upstream.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("the rules for a provider's name are shown before and after an error", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=openai" });
  const name = page.getByLabel("Name");
  await page
    .getByText("The name cannot be changed later, because slugs such as openai/model contain it.")
    .waitFor();
  await page.getByLabel("API key").fill(goodKey);
  for (const wrong of ["My House", "-house"]) {
    await name.fill(wrong);
    t.is(await name.getAttribute("aria-invalid"), null, "the error was about another name");
    await page.getByRole("button", { name: "Save and test" }).click();
    await page.getByText("Use lower-case letters, digits and hyphens, and no hyphen at the start.").waitFor();
    t.is(await page.getByText("because slugs such as").count(), 0, "an invalid name is in no slug");
    t.is(await name.getAttribute("aria-invalid"), "true");
  }
  await assertAccessible(t, page);
  t.is((await gateway.admin.providers.list.query()).length, 1);
});

browserTest("a refused private address is reported beside its field with the remedy", async (t) => {
  const gateway = await startTestGateway(t, { environment: { UPSTREAM_PRIVATE_HOSTS: "" } });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=ollama" });
  t.is(await page.getByLabel("Base URL").inputValue(), "http://localhost:11434/v1");
  await page.getByText(/to UPSTREAM_PRIVATE_HOSTS/).waitFor();
  // A browser parses the second address as a URL with the scheme "localhost".
  for (const schemeless of ["127.0.0.1:11434", "localhost:11434/v1"]) {
    await page.getByLabel("Base URL").fill(schemeless);
    await page.getByRole("button", { name: "Save and test" }).click();
    await page.getByText("Enter a URL that starts with https:// or http://.").waitFor();
  }
  await page.getByLabel("Base URL").fill("http://localhost:11434/v1");
  await page.getByRole("button", { name: "Save and test" }).click();
  await page.getByText(/add localhost:11434 to UPSTREAM_PRIVATE_HOSTS, and restart the gateway/).waitFor();
  t.is(await page.getByLabel("Base URL").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Base URL").and(page.locator(":focus")).waitFor();
  await assertAccessible(t, page);
});

browserTest("only private addresses that are not allowed show how to allow them", async (t) => {
  const environment = { UPSTREAM_PRIVATE_HOSTS: "localhost:11434,[::1]:8000" };
  const gateway = await startTestGateway(t, { environment });
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=ollama" });
  const howTo = page.getByText("To allow this private address, add");
  const address = page.getByLabel("Base URL");
  await address.fill("http://localhost:11435/v1");
  await howTo.getByText("localhost:11435").waitFor();
  for (const allowed of ["http://localhost:11434/v1", "http://[::1]:8000/v1"]) {
    await address.fill(allowed);
    await howTo.waitFor({ state: "detached" });
    await address.fill("http://10.0.0.5/v1");
    await howTo.getByText("10.0.0.5:80").waitFor();
  }

  const { id } = await gateway.admin.providers.create.mutate({
    name: "ollama",
    kind: "openai-compatible",
    preset: "ollama",
    baseUrl: "http://localhost:11434/v1",
  });
  const answered = page.waitForResponse((response) => response.url().includes("providers.privateHosts"));
  await page.goto(`/providers/${id}`);
  await answered;
  await page.getByText("localhost in this URL means the container").waitFor();
  t.is(await howTo.count(), 0);
});

browserTest("AWS requires a region and one or two keys, and Azure its endpoint", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/providers/new?from=bedrock" });
  await page.getByLabel("Credential type").click();
  await page.getByRole("option", { name: "AWS access key" }).click();
  await page.getByLabel("Region").fill("eu-central-1");
  await page.getByLabel("Access key ID").fill("AKIAEXAMPLE");
  await page.getByLabel("Secret access key").fill("secret-of-aws-0123456789");
  await assertAccessible(t, page);
  // `providers.test` would call AWS. The console saves the provider before this call.
  await page.route("**/trpc/providers.test*", (route) => route.abort());
  await page.getByRole("button", { name: "Save and test" }).click();
  await page.waitForURL(/\?provider=/);
  const [made] = (await gateway.admin.providers.list.query()).filter(({ kind }) => kind === "bedrock");
  t.like(made, { name: "bedrock", baseUrl: "https://bedrock-runtime.eu-central-1.amazonaws.com" });
  t.is(made?.credentials[0]?.lastFour, "6789");

  await page.goto("/providers/new?from=azure-openai");
  await page.getByText("The endpoint of your resource").waitFor();
  t.is(await page.getByLabel("Base URL").inputValue(), "");
  await page.goto("/providers/new?from=bedrock");
  await page.getByLabel("Region").waitFor();
  t.is(await page.getByLabel("Name").inputValue(), "bedrock-2", "the name is free");
});
