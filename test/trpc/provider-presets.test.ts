import test from "ava";
import { dumpDatabase } from "../helpers/dump-database.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { createUpstream, sendCompletion } from "../helpers/scripted-upstream.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { databaseKinds } from "../helpers/test-database.ts";

const groqKey = "gsk-environment-0123456789-GROQ";
const environment = {
  GROQ_API_KEY: groqKey,
  DEEPSEEK_API_KEY: "sk-environment-0123456789-DEEP",
  XAI_API_KEY: "two words",
};

for (const kind of databaseKinds) {
  const shared = shareGateway({ kind, environment });

  test(`${kind}: presets fill the form with kind, address and a link to a key`, async (t) => {
    const presets = await shared().admin.providers.presets.query();
    t.deepEqual(
      presets.find(({ name }) => name === "openai"),
      {
        kind: "openai-compatible",
        name: "openai",
        label: "OpenAI",
        baseUrl: "https://api.openai.com/v1",
        keyPageUrl: "https://platform.openai.com/api-keys",
        keyVariable: "OPENAI_API_KEY",
        hint: null,
        fields: { apiKey: "required", baseUrl: "optional" },
      },
    );
  });

  test(`${kind}: a preset supplies a missing address and is returned`, async (t) => {
    const { providers } = shared().admin;
    const made = await providers.create.mutate({
      name: "by-preset",
      kind: "openai-compatible",
      preset: "mistral",
      apiKey: "sk-0123456789abcdef",
    });
    t.like(made, { preset: "mistral", baseUrl: "https://api.mistral.ai/v1" });
    t.deepEqual(
      (await providers.list.query()).find(({ id }) => id === made.id),
      made,
    );

    const moved = await providers.create.mutate({
      name: "by-preset-elsewhere",
      kind: "openai-compatible",
      preset: "mistral",
      baseUrl: "https://proxy.example.com/mistral/",
    });
    t.like(moved, { preset: "mistral", baseUrl: "https://proxy.example.com/mistral" });
    t.deepEqual(
      await providers.update.mutate({ id: made.id, baseUrl: "https://eu.example.com/v1" }),
      { ...made, baseUrl: "https://eu.example.com/v1", revision: 2 },
      "moving it does not make it another upstream",
    );
    const none = await providers.create.mutate({ name: "no-preset", kind: "demo", preset: null });
    t.is(none.preset, null);
  });

  test(`${kind}: a provider can adopt and leave a preset in place`, async (t) => {
    const { providers } = shared().admin;
    const made = await providers.create.mutate({
      name: "becoming",
      kind: "openai-compatible",
      baseUrl: "https://api.mistral.ai/v1",
    });
    const { id } = made;
    for (const [index, preset] of ["mistral", "groq", null].entries()) {
      t.deepEqual(await providers.update.mutate({ id, preset }), { ...made, preset, revision: index + 2 });
    }
    const wrong = providers.update.mutate({ id, preset: "nonsense" });
    t.like(await t.throwsAsync(wrong), { data: { code: "BAD_REQUEST", param: "preset" } });
  });

  test(`${kind}: a preset of another kind or an unknown one is rejected`, async (t) => {
    const { providers } = shared().admin;
    for (const [of, preset] of [
      ["openai-compatible", "nonsense"],
      ["openai-compatible", "OpenAI"],
      ["openai-compatible", ""],
      ["openai-compatible", "__proto__"],
      ["demo", "openai"],
    ] as const) {
      const creation = providers.create.mutate({ name: "wrong", kind: of, preset });
      const error = await t.throwsAsync(creation, undefined, preset);
      t.like(error, { data: { code: "BAD_REQUEST", param: "preset" } }, preset);
    }
  });

  test(`${kind}: a credential's weight can be changed without its key`, async (t) => {
    const { providers } = shared().admin;
    const { id, credentials } = await providers.create.mutate({
      name: "weighted",
      kind: "openai-compatible",
      preset: "openai",
      apiKey: "sk-0123456789-first",
    });
    t.is(credentials[0]?.weight, 1);
    const two = await providers.addCredential.mutate({ id, apiKey: "sk-0123456789-other", weight: 1_000 });
    t.deepEqual(
      two.credentials.map(({ weight }) => weight),
      [1, 1_000],
    );

    const credentialId = credentials[0]?.id ?? "";
    for (const weight of [7, 7]) {
      const changed = await providers.updateCredential.mutate({ id, credentialId, weight });
      t.deepEqual(changed.credentials, [{ ...two.credentials[0], weight }, two.credentials[1]]);
    }
    for (const weight of [0, -1, 1.5, 1_001]) {
      const change = providers.updateCredential.mutate({ id, credentialId, weight });
      t.like(await t.throwsAsync(change), { data: { code: "BAD_REQUEST", param: "weight" } }, String(weight));
    }
    const other = await providers.create.mutate({ name: "unweighted", kind: "demo" });
    const foreign = providers.updateCredential.mutate({ id: other.id, credentialId, weight: 2 });
    t.like(await t.throwsAsync(foreign), { data: { code: "NOT_FOUND", param: "credentialId" } });
    const nobodys = providers.updateCredential.mutate({ id: "prv_absent", credentialId, weight: 2 });
    t.like(await t.throwsAsync(nobodys), { data: { code: "NOT_FOUND", param: "id" } });
  });

  test.serial(`${kind}: keys in the environment are offered by name and imported on request`, async (t) => {
    const { admin, log, environment: own } = shared();
    const offered = await admin.providers.environmentKeys.query();
    t.deepEqual(
      offered.map(({ variable, hasProvider }) => [variable, hasProvider]),
      [
        ["DEEPSEEK_API_KEY", false],
        ["GROQ_API_KEY", false],
        ["XAI_API_KEY", false],
      ],
    );
    t.deepEqual(offered[1], {
      variable: "GROQ_API_KEY",
      kind: "openai-compatible",
      preset: "groq",
      label: "Groq",
      hasProvider: false,
    });
    t.false(
      (await admin.providers.list.query()).some(({ preset }) => preset === "groq"),
      "nothing is imported silently",
    );

    const refused = admin.providers.importFromEnvironment.mutate({
      variables: ["GROQ_API_KEY", "XAI_API_KEY"],
    });
    t.like(await t.throwsAsync(refused), { data: { code: "BAD_REQUEST", param: "variables.1" } });
    const absent = admin.providers.importFromEnvironment.mutate({ variables: ["OPENAI_API_KEY"] });
    t.like(await t.throwsAsync(absent), { data: { code: "NOT_FOUND", param: "variables.0" } });
    t.false(
      (await admin.providers.list.query()).some(({ preset }) => preset === "groq"),
      "all or none",
    );

    const imported = await admin.providers.importFromEnvironment.mutate({
      variables: ["GROQ_API_KEY", "DEEPSEEK_API_KEY", "GROQ_API_KEY"],
    });
    t.deepEqual(
      imported.map(({ name, preset, baseUrl, credentials }) => [
        name,
        preset,
        baseUrl,
        credentials.map(({ lastFour }) => lastFour).join(),
      ]),
      [
        ["groq", "groq", "https://api.groq.com/openai/v1", "GROQ"],
        ["deepseek", "deepseek", "https://api.deepseek.com", "DEEP"],
      ],
    );
    const now = await admin.providers.environmentKeys.query();
    t.deepEqual(
      now.map(({ hasProvider }) => hasProvider),
      [true, true, false],
    );

    const again = admin.providers.importFromEnvironment.mutate({ variables: ["GROQ_API_KEY"] });
    const error = await t.throwsAsync(again);
    t.like(error, { data: { code: "CONFLICT", param: "variables.0" } });
    t.regex(error?.message ?? "", /The provider groq already exists/);

    const seen = JSON.stringify([offered, imported, now, error]) + log.join("");
    t.deepEqual(findLeaks(seen + (await dumpDatabase(own["DATABASE_URL"] ?? "")), { groqKey }), []);
  });

  test.serial(`${kind}: an imported key authenticates requests`, async (t) => {
    const upstream = await createUpstream(t, (_request, response) => sendCompletion(response));
    const { admin } = shared();
    const { id } = (await admin.providers.list.query()).find(({ name }) => name === "groq") ?? { id: "" };
    await admin.providers.update.mutate({ id, baseUrl: upstream.url });
    await admin.providers.test.mutate({ id });
    t.is(upstream.requests[0]?.headers.authorization, `Bearer ${groqKey}`);
  });
}
