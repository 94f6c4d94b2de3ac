import test from "ava";
import { Browser } from "../helpers/browser.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { administrator } from "../helpers/test-gateway.ts";

const shared = shareGateway();

const sites = [undefined, "same-origin", "none", "same-site", "cross-site", ""];
const contentTypes = [
  "application/json",
  "application/json; charset=utf-8",
  "Application/JSON",
  undefined,
  "",
  "text/plain",
  "text/plain; application/json",
  "application/jsonp",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/octet-stream",
];
const sitesAllowed = sites.slice(0, 3);
const contentTypesAllowed = contentTypes.slice(0, 3);

type Sent = { method?: string; site: string | undefined; contentType?: string | undefined; body?: string };

/** Sends the body as bytes, because `fetch` adds no content-type to bytes. */
async function send(path: string, browser: Browser, { method = "POST", site, contentType, body }: Sent) {
  const response = await fetch(`${shared().url}${path}`, {
    method,
    headers: {
      cookie: `gateway_refresh=${browser.refreshToken}`,
      authorization: `Bearer ${browser.accessToken}`,
      ...(site !== undefined && { "sec-fetch-site": site }),
      ...(contentType !== undefined && { "content-type": contentType }),
    },
    ...(method === "POST" && { body: Buffer.from(body ?? "") }),
  });
  await response.arrayBuffer();
  return { status: response.status, setCookie: response.headers.get("set-cookie") };
}

async function signIn(): Promise<Browser> {
  const browser = new Browser(shared());
  await browser.signIn(administrator.email, administrator.password);
  return browser;
}

for (const procedure of ["auth.signOut", "auth.refresh", "auth.signOutEverywhere"]) {
  test.serial(`${procedure} accepts only same-origin JSON`, async (t) => {
    let browser = await signIn();
    for (const site of sites) {
      for (const contentType of contentTypes) {
        const body = contentType?.startsWith("multipart") ? "--x--\r\n" : "";
        const { status, setCookie } = await send(`/trpc/${procedure}`, browser, { site, contentType, body });
        const title = `${site} ${contentType}`;
        const isSameOrigin = sitesAllowed.includes(site);
        if (isSameOrigin && contentTypesAllowed.includes(contentType)) {
          t.is(status, 200, title);
          browser = await signIn();
        } else {
          t.true([403, 415].includes(status), `${title}: ${status}`);
          t.is(setCookie, null, title);
        }
      }
    }
    t.is(await browser.messageOf(), "OK", "no refused request ended the session");
    t.is((await browser.refresh()).status, 200, "nor used its refresh token up");
  });
}

test.serial("a form-encoded batch of mutations ends no session", async (t) => {
  const browser = await signIn();
  for (const path of ["/trpc/auth.signOut?batch=1", "/trpc/auth.signOut,auth.signOutEverywhere?batch=1"]) {
    const contentType = "multipart/form-data; boundary=x";
    const { status } = await send(path, browser, { site: undefined, contentType, body: "--x--\r\n" });
    t.true([404, 415].includes(status), `${path}: ${status}`);
  }
  t.is((await browser.refresh()).status, 200);
});

test.serial("/trpc and /graphql answer only same-origin queries", async (t) => {
  const browser = await signIn();
  const query = "{ __typename }";
  for (const site of sites) {
    const expected = sitesAllowed.includes(site) ? 200 : 403;
    const get = { method: "GET", site };
    t.is((await send("/trpc/keys.list", browser, get)).status, expected, `GET /trpc ${site}`);
    const read = `/graphql?query=${encodeURIComponent(query)}`;
    t.is((await send(read, browser, get)).status, expected, `GET /graphql ${site}`);
    for (const contentType of contentTypes) {
      const post = { site, contentType, body: JSON.stringify({ query }) };
      const { status } = await send("/graphql", browser, post);
      const isJson = contentTypesAllowed.includes(contentType);
      t.is(status, expected === 403 ? 403 : isJson ? 200 : 415, `POST /graphql ${site} ${contentType}`);
    }
  }
});
