import { appRouter } from "../../gateway/trpc/app-router.ts";

type ProcedureRow = {
  access: "everybody" | "members" | "administrators";
  input?: Record<string, unknown> | undefined;
  /** Optional fields. The test for unknown fields does not send them. */
  optional?: string[] | undefined;
};

const rowsOf =
  (access: ProcedureRow["access"]) =>
  (input?: ProcedureRow["input"], optional?: string[]): ProcedureRow => ({ access, input, optional });
const everybody = rowsOf("everybody");
const members = rowsOf("members");
const administrators = rowsOf("administrators");

const guardPassword = "password of guards@example.com";

/** A new procedure fails the tests until this table lists its access. Tests that need an entity replace `id`. */
export const procedureTable: Record<string, ProcedureRow> = {
  "auth.state": everybody(),
  "auth.setUpToken": everybody({ token: "wrong" }),
  "auth.setUp": everybody({ token: "wrong", name: "Eve", email: "eve@example.com", password: "long enough" }),
  "auth.signIn": everybody({ email: "nobody@example.com", password: "wrong" }),
  "auth.refresh": everybody(),
  "auth.signOut": everybody(),
  "auth.changePassword": members({ currentPassword: guardPassword, newPassword: guardPassword }),
  "auth.invitation": everybody({ token: "wrong" }),
  "auth.join": everybody({ token: "wrong", name: "Eve", password: "long enough" }),
  "auth.me": members(),
  "auth.rename": members({ name: "Renamed" }),
  "auth.signOutEverywhere": members(),

  "audit.list": administrators({}),
  "audit.actions": administrators(),

  "gateway.info": members(),

  "overview.onboarding": members(),

  "users.list": administrators({}),
  "users.get": administrators({ id: "usr_absent" }),
  "users.invite": administrators({ name: "Eve", email: "eve@example.com" }, ["role"]),
  "users.resetPassword": administrators({ id: "usr_absent" }),
  "users.setRole": administrators({ id: "usr_absent", role: "admin" }),
  "users.disable": administrators({ id: "usr_absent" }, ["teamKeys"]),
  "users.enable": administrators({ id: "usr_absent" }),

  "keys.list": members({}, ["ownerId"]),
  "keys.counts": members({}, ["ownerId"]),
  "keys.get": members({ id: "" }),
  "keys.find": members({ text: "key_absent" }),
  "keys.usage": members({ id: "" }),
  "keys.create": members({ name: "A key" }, ["ownerId"]),
  "keys.rename": members({ id: "", name: "Renamed" }),
  "keys.setModels": members({ id: "", models: [] }),
  "keys.setLimits": members({ id: "", limits: { requestsPerMinute: 1, budgetsUsd: {} } }, ["limits"]),
  "keys.setChargeFactor": administrators({ id: "", chargeFactor: 1.15 }),
  "keys.setOwner": members({ id: "", ownerId: "usr_absent" }),
  "keys.deactivate": members({ id: "" }),
  "keys.activate": members({ id: "" }),
  "keys.rotate": members({ id: "" }),
  "keys.delete": members({ id: "" }),

  "limits.get": members({ holder: "gateway" }),
  "limits.set": administrators({ holder: "gateway", limits: { budgetsUsd: {} } }),

  "teams.list": members({}),
  "teams.get": members({ id: "tem_absent" }),
  "teams.people": members({ id: "tem_absent" }),
  "teams.create": administrators({ name: "A team" }),
  "teams.update": administrators({ id: "tem_absent", name: "Another team" }),
  "teams.setStatus": administrators({ id: "tem_absent", status: "paused" }),
  "teams.setLimits": administrators({ id: "tem_absent", limits: { budgetsUsd: {} } }),
  "teams.setModels": administrators({ id: "tem_absent", access: "listed", models: [] }),
  "teams.addMember": members({ id: "tem_absent", userId: "usr_absent" }, ["role"]),
  "teams.setRole": administrators({ id: "tem_absent", userId: "usr_absent", role: "member" }),
  "teams.removeMember": members({ id: "tem_absent", userId: "usr_absent" }),

  "models.list": members({}),
  "models.forSetup": members({ slugs: ["demo/echo"] }),
  "models.get": members({ slug: "demo/echo" }),
  "models.impact": administrators({ id: "mdl_absent" }),
  "models.create": administrators({ slug: "demo/x", providerId: "prv_absent" }),
  "models.update": administrators({ id: "mdl_absent", prices: {}, fallbacks: [] }),
  "models.delete": administrators({ id: "mdl_absent" }),
  "models.known": administrators({ providerId: "prv_absent" }),

  "overview.get": members({ period: "7d" }),
  "overview.budgets": members(),
  "overview.top": members({ period: "7d" }),
  "overview.spending": members(),
  "overview.keys": members(),

  "providers.list": administrators(),
  "providers.health": administrators(),
  "providers.healthHistory": administrators({}),
  "providers.presets": administrators(),
  "providers.privateHosts": administrators(),
  "providers.create": administrators({ name: "new", kind: "demo", timeouts: {} }),
  "providers.update": administrators({ id: "prv_absent" }),
  "providers.impact": administrators({ id: "prv_absent" }),
  "providers.credentialImpact": administrators({ id: "prv_absent", credentialId: "crd_absent" }),
  "providers.delete": administrators({ id: "prv_absent" }),
  "providers.test": administrators({ id: "prv_absent" }),
  "providers.discoverModels": administrators({ id: "prv_absent" }),
  "providers.addModels": administrators({ id: "prv_absent", models: ["gpt-4o"] }),
  "providers.addCredential": administrators({ id: "prv_absent", apiKey: "secret", weight: 1 }),
  "providers.updateCredential": administrators({ id: "prv_absent", credentialId: "crd_absent", weight: 1 }),
  "providers.removeCredential": administrators({ id: "prv_absent", credentialId: "crd_absent" }),
  "providers.environmentKeys": administrators(),
  "providers.importFromEnvironment": administrators({ variables: ["OPENAI_API_KEY"] }),
};

/** tRPC types `_def.procedures` as a tree, but the object is flat. */
export const procedures = Object.entries(
  appRouter._def.procedures as unknown as Record<
    string,
    { _def: { type: "query" | "mutation"; inputs: unknown[] } }
  >,
).map(([path, { _def }]) => ({ path, type: _def.type, takesInput: _def.inputs.length > 0 }));
