import test from "ava";
import { Browser } from "../helpers/browser.ts";
import { callProcedure } from "../helpers/call-procedure.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";

/** Returns a cookie's attributes, such as `Path=/trpc; HttpOnly`, as a map with lowercase names. */
function attributesOf(setCookie: string): Map<string, string> {
  const [, ...attributes] = setCookie.split(";").map((part) => part.trim());
  return new Map(
    attributes.map((attribute) => {
      const [name = "", value = ""] = attribute.split("=");
      return [name.toLowerCase(), value];
    }),
  );
}

for (const publicUrl of ["http://gateway.example.com", "https://gateway.example.com"]) {
  test(`under ${publicUrl} the refresh cookie is sent only to the console's API`, async (t) => {
    const gateway = await startTestGateway(t, { environment: { PUBLIC_URL: publicUrl } });
    const browser = new Browser(gateway);
    const isSecure = publicUrl.startsWith("https:");
    const check = (setCookie = "") => {
      const attributes = attributesOf(setCookie);
      t.true(attributes.has("httponly"));
      t.is(attributes.get("samesite"), "Strict");
      t.is(attributes.get("path"), "/trpc");
      t.is(attributes.has("secure"), isSecure);
      t.false(attributes.has("domain"));
      return new Date(attributes.get("expires") ?? Number.NaN).getTime() - Date.now();
    };

    await browser.signIn(administrator.email, administrator.password);
    const lifetimeMs = check(browser.setCookie);
    t.true(lifetimeMs > 29 * 86_400_000 && lifetimeMs <= 30 * 86_400_000);
    await browser.refresh();
    check(browser.setCookie);
    await browser.call("auth.signOut");
    t.true(check(browser.setCookie) < 0, "the cookie is taken back under the same attributes");
  });
}

test("cross-site requests are refused", async (t) => {
  const gateway = await startTestGateway(t);
  const from = (site: string, path: string, type: "query" | "mutation", input?: unknown) =>
    callProcedure(gateway, path, { type, input, headers: { "sec-fetch-site": site } });
  const credentials = { email: administrator.email, password: administrator.password };

  for (const answer of [
    await from("cross-site", "auth.signIn", "mutation", credentials),
    await from("cross-site", "auth.signOut", "mutation"),
    await from("cross-site", "auth.state", "query"),
  ]) {
    t.is(answer.code, "FORBIDDEN");
    t.is(answer.status, 403);
    t.is(answer.headers["set-cookie"], undefined);
    t.false(answer.text.includes("    at "));
  }

  for (const site of ["same-origin", "none"]) {
    t.is((await from(site, "auth.signIn", "mutation", credentials)).status, 200, site);
  }
});

test("responses of the console's API are not cached", async (t) => {
  const gateway = await startTestGateway(t);
  for (const path of ["auth.state", "keys.list", "no.such"]) {
    const { headers } = await callProcedure(gateway, path, { type: "query" });
    t.is(headers["cache-control"], "no-store", path);
    t.regex(String(headers["x-request-id"]), /^req_/);
  }
});
