import test from "ava";
import { Browser } from "../helpers/browser.ts";
import { callProcedure, type ConsoleAnswer } from "../helpers/call-procedure.ts";
import { procedures, procedureTable } from "../helpers/procedure-table.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { administrator, createKey } from "../helpers/test-gateway.ts";

const shared = shareGateway();
let accessToken: string | undefined;
test.serial.before(async () => {
  const browser = new Browser(shared());
  await browser.signIn(administrator.email, administrator.password);
  accessToken = browser.accessToken;
});

function typeOf(path: string): "query" | "mutation" {
  return procedures.find((procedure) => procedure.path === path)?.type ?? "query";
}

function call(path: string, input: unknown): Promise<ConsoleAnswer> {
  return callProcedure(shared(), path, { type: typeOf(path), input, accessToken });
}

for (const [path, { input, optional = [] }] of Object.entries(procedureTable)) {
  if (!input) continue;
  const valid = "id" in input && input["id"] === "" ? { ...input, id: "key_absent" } : input;
  /** Replaces a `providerId` with the ID of an existing provider. */
  const complete = async () => {
    const [provider] = await shared().admin.providers.list.query();
    return "providerId" in valid ? { ...valid, providerId: provider?.id } : valid;
  };

  test(`${path} rejects an unknown field`, async (t) => {
    t.not((await call(path, await complete())).code, "BAD_REQUEST", "without it the input is right");
    for (const [field, value] of Object.entries({ role: "admin", ownerId: "usr_1", nonsense: null })) {
      if (field in valid || optional.includes(field)) continue;
      const answer = await call(path, { ...valid, [field]: value });
      t.is(answer.code, "BAD_REQUEST", `${field}: ${answer.text}`);
      t.is(answer.status, 400);
    }
  });

  test(`${path} rejects inputs of another type with a readable error`, async (t) => {
    for (const wrong of [null, 1, "text", [], [valid], true]) {
      const answer = await call(path, wrong);
      t.is(answer.code, "BAD_REQUEST", `${JSON.stringify(wrong)}: ${answer.text}`);
    }
    for (const field of Object.keys(valid)) {
      const answer = await call(path, { ...valid, [field]: { $ne: null } });
      t.is(answer.code, "BAD_REQUEST", `${field}: ${answer.text}`);
      t.false(answer.text.includes("    at "), "no stack");
      t.regex(answer.error?.data.requestId ?? "", /^req_[0-9a-z]{26}$/);
      const problems = (answer.error?.message ?? "").split("✖ ").slice(1);
      t.true(problems.length > 0, answer.text);
      for (const problem of problems) {
        const [text = ""] = problem.trim().split("\n");
        t.is(text.split(/\.(?: |$)/).length, 3, `not two sentences: ${text}`);
      }
    }
  });
}

test("an unknown nested field is rejected, too", async (t) => {
  for (const answer of [
    await call("models.create", { slug: "demo/x", providerId: "prv_1", prices: { inputs: 1 } }),
    await call("models.update", { slug: "demo/echo", prices: { inputs: 1 } }),
    await call("providers.create", { name: "new2", kind: "demo", timeouts: { connectTimeout: 1 } }),
  ]) {
    t.is(answer.code, "BAD_REQUEST", answer.text);
  }
});

test("an input error names the field and its valid values", async (t) => {
  const answer = await call("providers.create", { name: "Not Lower Case", kind: "demo" });
  t.is(answer.error?.data.param, "name");
  t.regex(answer.error?.message ?? "", /Use at most 63 lower-case letters, digits and hyphens/);
});

const unexplained: [path: string, input: object, message: string][] = [
  ["keys.create", {}, "The field 'name' is missing. Send a string."],
  ["keys.create", { name: 5 }, "The field 'name' is 5. Send a string."],
  ["keys.list", { limit: "5" }, "The field 'limit' is a string. Send a number."],
  ["keys.list", { limit: 1.5 }, "The field 'limit' is 1.5. Send a whole number."],
  ["keys.list", { limit: 500 }, "The field 'limit' is 500. Use at most 200."],
  ["keys.list", { limit: 0 }, "The field 'limit' is 0. Use at least 1."],
  ["keys.list", { search: "x".repeat(256) }, "The field 'search' has 256 characters. Use at most 255."],
  ["keys.list", { status: "gone" }, "The field 'status' is \"gone\". Use one of active, disabled."],
  ["keys.list", { nonsense: 1 }, "The input contains an unknown field: 'nonsense'. Remove the field."],
  ["keys.create", { name: "x", limits: [] }, "The field 'limits' is a list. Send an object."],
  ["models.get", { id: 5 }, "The field 'id' is 5. Send a string."],
  ["models.get", {}, "The field 'id' is missing. Send a string."],
  [
    "providers.create",
    { name: "A B", kind: "demo" },
    '"A B" is not a provider name. Use at most 63 lower-case',
  ],
];

for (const [path, input, message] of unexplained) {
  test(`${path} rejects ${JSON.stringify(input).slice(0, 40)} in two sentences`, async (t) => {
    const answer = await call(path, input);
    t.is(answer.code, "BAD_REQUEST");
    t.true(answer.error?.message.startsWith(`✖ ${message}`), answer.error?.message);
  });
}

test("names have a minimum and a maximum length", async (t) => {
  for (const name of ["", "   ", "x".repeat(256), "line\nbreak", "bell\u0007"]) {
    const answer = await call("keys.create", { name });
    t.is(answer.code, "BAD_REQUEST", JSON.stringify(name));
    t.is(answer.error?.data.param, "name");
  }
  t.is((await call("keys.create", { name: "x".repeat(255) })).status, 200);
});

test("a mutation accepts neither GET nor a form", async (t) => {
  for (const path of Object.keys(procedureTable).filter((name) => typeOf(name) === "mutation")) {
    const answer = await callProcedure(shared(), path, { type: "query", accessToken });
    t.is(answer.status, 405, path);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const headers = { "content-type": type };
    const answer = await callProcedure(shared(), "keys.create", {
      input: { name: "x" },
      accessToken,
      headers,
    });
    t.is(answer.status, 415, type);
  }
});

test("a body that is invalid JSON or missing is the caller's error", async (t) => {
  for (const body of ["{", "\0", '{"name":', "undefined"]) {
    const response = await fetch(`${shared().url}/trpc/keys.create`, {
      method: "POST",
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    t.is(response.status, 400, `${body}: ${text}`);
    t.false(text.includes("    at "));
  }
});

test("a batch of more than twenty calls is rejected, one of twenty is answered", async (t) => {
  const batch = async (count: number) => {
    const paths = Array.from({ length: count }, () => "auth.state").join();
    const response = await fetch(`${shared().url}/trpc/${paths}?batch=1&input=${encodeURIComponent("{}")}`);
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const twenty = await batch(20);
  t.is(twenty.status, 200);
  t.true(Array.isArray(twenty.body) && twenty.body.length === 20);
  for (const count of [21, 500]) t.is((await batch(count)).status, 400, `${count} calls`);
});

test("an unknown procedure returns 404", async (t) => {
  for (const path of ["keys", "keys.nothing", "__proto__", "keys.__proto__.constructor", "constructor"]) {
    t.is((await callProcedure(shared(), path, { type: "query", accessToken })).status, 404, path);
  }
});

// Databases treat trailing spaces, late years and lone surrogates differently, so inputs reject them.
test("an id with a trailing space is unknown and changes nothing", async (t) => {
  const gateway = shared();
  const { keys, users, auth } = gateway.admin;
  const { id } = await createKey(gateway);
  const { id: ownerId } = await auth.me.query();
  const padded = `${id} `;
  for (const call of [
    () => keys.deactivate.mutate({ id: padded }),
    () => keys.delete.mutate({ id: padded }),
    () => keys.rotate.mutate({ id: padded }),
    () => keys.setModels.mutate({ id: padded, models: [] }),
    () => keys.create.mutate({ name: "K", ownerId: `${ownerId} ` }),
    () => users.get.query({ id: `${ownerId} ` }),
  ])
    await t.throwsAsync(call, { message: /The ID is empty or contains spaces/ });
  t.like(await keys.get.query({ id }), { status: "active", revision: 1 });
});

test("a key cannot expire after the last supported year", async (t) => {
  const { keys } = shared().admin;
  const create = (expiresAt: string) => keys.create.mutate({ name: "K", expiresAt });
  t.is((await create("9999-12-31T23:59:59Z")).key.expiresAt, "9999-12-31T23:59:59.000Z");
  await t.throwsAsync(create("9999-12-31T23:59:59-05:00"), {
    message: /"9999-12-31T23:59:59-05:00" is after the year 9999 in UTC\. /,
  });
});

test("a name with a lone surrogate is rejected", async (t) => {
  const gateway = shared();
  const { auth, keys, models, providers } = gateway.admin;
  const { id } = await createKey(gateway);
  const { id: providerId } = await providers.create.mutate({ name: "other", kind: "demo" });
  const name = "half \ud83d";
  for (const call of [
    () => auth.rename.mutate({ name }),
    () => keys.rename.mutate({ id, name }),
    () => models.create.mutate({ slug: "other/x", providerId, upstreamModel: name }),
  ])
    await t.throwsAsync(call, { message: /a lone surrogate/ });
  t.is((await keys.rename.mutate({ id, name: "whole 👋" })).name, "whole 👋");
});
