import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import test from "ava";
import { formatCsv } from "../../console/src/lib/usage/usage-record.ts";
import { Browser } from "../helpers/browser.ts";
import { startGatewayProcess } from "../helpers/gateway-process.ts";
import { queryDatabase } from "../helpers/query-database.ts";
import { sendRaw } from "../helpers/send-raw.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { createTestFolder } from "../helpers/test-folder.ts";
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

const gateway = shareGateway();

for (const path of ["/v1/models", "/trpc/auth.state", "/graphql", "/healthz", "/openapi.json", "/"]) {
  test(`two Host headers at ${path} receive 400`, async (t) => {
    const answer = await sendRaw(gateway().url, `GET ${path} HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n`);
    t.is(answer.status, 400, answer.text);
    t.like(JSON.parse(answer.text), { error: { type: "invalid_request_error", param: null, code: null } });
  });

  test(`the response at ${path} forbids content sniffing`, async (t) => {
    const answer = await fetch(gateway().url + path);
    t.is(answer.headers.get("x-content-type-options"), "nosniff", `${answer.status}`);
  });
}

test("responses to malformed requests forbid content sniffing", async (t) => {
  const answer = await sendRaw(gateway().url, "NONSENSE\r\n\r\n");
  t.is(answer.headers.get("x-content-type-options"), "nosniff", answer.text);
});

const starts = ["=", "+", "-", "@", "＝", "＋", "－", "＠"];
const names = starts.flatMap((start) => [
  `${start}cmd|' /C calc'!A1`,
  ` ${start}1+1`,
  `x;${start}cmd|' /C calc'!A1;y`,
  `x\t${start}1`,
  `x\r\n${start}1`,
  `x";${start}1;"y`,
  `x,${start}HYPERLINK("http://example.com")`,
]);

for (const name of names) {
  test(`no cell starts a formula, whatever the separator: ${JSON.stringify(name)}`, (t) => {
    const given = { id: "req_1", apiKeyName: name } as Parameters<typeof formatCsv>[0][number];
    const record = new Proxy(given, { get: (from, key) => Reflect.get(from, key) ?? null });
    const [, ...lines] = formatCsv([record]).split("\r\n");
    const row = lines.join("\r\n");
    const [, byComma = ""] = /^"req_1",,,"((?:[^"]|"")*)",/s.exec(row) ?? [];
    t.is(byComma.replaceAll('""', '"').replaceAll(/'(?=[\s"]*[=+\-@＝＋－＠])/g, ""), name);
    // Some spreadsheets separate cells at characters other than commas, and ignore quotes.
    for (const cell of [byComma, ...row.split(/[;,\t\r\n|]/)])
      t.notRegex(cell, /^[\s"]*[=+\-@＝＋－＠]/, cell);
  });
}

const privateFilesAdministrator = { ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "correct horse battery" };

test("DATA_DIR and its files become private even if they exist with other modes", async (t) => {
  const DATA_DIR = path.join(await createTestFolder(t), "data");
  mkdirSync(DATA_DIR);
  for (const name of ["gateway.db", "gateway.db-wal", "gateway.db-shm"]) {
    writeFileSync(path.join(DATA_DIR, name), "");
    chmodSync(path.join(DATA_DIR, name), 0o644);
  }
  chmodSync(DATA_DIR, 0o755);
  const gateway = startGatewayProcess(t, { PORT: "0", DATA_DIR, ...privateFilesAdministrator });
  await gateway.listening();
  t.is(statSync(DATA_DIR).mode & 0o777, 0o700);
  const entries = readdirSync(DATA_DIR, { recursive: true, withFileTypes: true });
  const names = entries.map(({ name }) => name);
  for (const name of ["gateway.db", "gateway.db-wal", "jwt.key", "master.key"]) t.true(names.includes(name));
  for (const entry of entries) {
    const { mode } = statSync(path.join(entry.parentPath, entry.name));
    t.is(mode & 0o077, 0, `${entry.name} has mode ${(mode & 0o777).toString(8)}`);
  }
});

test("production neither creates nor prints a first API key", async (t) => {
  const DATA_DIR = await createTestFolder(t);
  const gateway = startGatewayProcess(t, {
    PORT: "0",
    DATA_DIR,
    NODE_ENV: "production",
    ...privateFilesAdministrator,
  });
  await gateway.listening();
  gateway.child.kill("SIGTERM");
  t.is(await gateway.exited, 0, gateway.stderr());
  t.false((gateway.stdout() + gateway.stderr()).includes("sk-gateway-"));
  const url = `sqlite:${path.join(DATA_DIR, "gateway.db")}`;
  t.deepEqual(await queryDatabase(url, "SELECT id FROM api_keys"), []);
});
