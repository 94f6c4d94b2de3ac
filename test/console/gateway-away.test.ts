import test, { type ExecutionContext } from "ava";
import { assertAccessible } from "../helpers/assert-accessible.ts";
import { browserTest } from "../helpers/browser-test.ts";
import { openSignedIn, shareBrowser } from "../helpers/chromium.ts";
import { createKey, startTestGateway, type TestGateway } from "../helpers/test-gateway.ts";

const browser = shareBrowser(test);

browserTest("a new page keeps the navigation without a gateway, and recovers with it", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/keys" });
  await page.getByRole("region", { name: "API keys" }).waitFor();
  await gateway.close();
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("heading", { name: "Gateway unreachable" }).waitFor();
  t.is(new URL(page.url()).pathname, "/models");
  t.true(await page.getByRole("navigation", { name: "Console" }).isVisible());
  await assertAccessible(t, page);
  await restart(t, gateway);
  await page.getByRole("cell", { name: "demo/echo" }).waitFor();
});

browserTest("a tab of a key recovers after the gateway was away", async (t) => {
  const gateway = await startTestGateway(t);
  const { id } = await createKey(gateway);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: `/keys/${id}` });
  await page.getByRole("heading", { name: "Test key" }).waitFor();
  await gateway.close();
  await page.getByRole("link", { name: "Limits" }).click();
  await page.getByRole("heading", { name: "Gateway unreachable" }).waitFor();
  await restart(t, gateway);
  await page.getByLabel("Requests per minute").waitFor();
});

browserTest("the usage page says at once that the gateway is unreachable, and recovers", async (t) => {
  const gateway = await startTestGateway(t);
  const page = await openSignedIn(t, { browser: browser(), gateway, path: "/usage" });
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.getByRole("region", { name: "API keys" }).waitFor();
  await gateway.close();
  await page.getByRole("link", { name: "Usage" }).click();
  const notice = page.getByRole("alert").filter({ hasText: "The gateway cannot be reached." });
  await notice.waitFor();
  await restart(t, gateway);
  await page.getByRole("heading", { name: "No requests" }).waitFor();
  await notice.waitFor({ state: "detached" });
});

async function restart(t: ExecutionContext, { environment, url }: TestGateway): Promise<void> {
  const again = await startTestGateway(t, { environment: { ...environment, PORT: new URL(url).port } });
  t.is(again.url, url);
}
