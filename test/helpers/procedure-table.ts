import { appRouter } from "../../gateway/trpc/app-router.ts";

/** A new procedure fails the tests until this table lists its access. Tests that need an entity replace `id`. */
export const procedureTable: Record<string, ProcedureRow> = {
  "auth.state": { access: "everybody" },
  "auth.setUpToken": { access: "everybody", input: { token: "wrong" } },
  "auth.setUp": {
    access: "everybody",
    input: { token: "wrong", name: "Eve", email: "eve@example.com", password: "long enough" },
  },
  "auth.signIn": { access: "everybody", input: { email: "nobody@example.com", password: "wrong" } },
  "auth.refresh": { access: "everybody" },
  "auth.signOut": { access: "everybody" },
  "auth.changePassword": {
    access: "members",
    input: {
      currentPassword: "password of guards@example.com",
      newPassword: "password of guards@example.com",
    },
  },
  "auth.invitation": { access: "everybody", input: { token: "wrong" } },
  "auth.join": { access: "everybody", input: { token: "wrong", name: "Eve", password: "long enough" } },
  "auth.me": { access: "members" },
  "auth.rename": { access: "members", input: { name: "Renamed" } },
  "auth.signOutEverywhere": { access: "members" },

  "audit.list": { access: "administrators", input: {} },
  "audit.actions": { access: "administrators" },

  "gateway.info": { access: "members" },

  "overview.onboarding": { access: "members" },

  "users.list": { access: "administrators", input: {} },
  "users.get": { access: "administrators", input: { id: "usr_absent" } },
  "users.invite": {
    access: "administrators",
    input: { name: "Eve", email: "eve@example.com" },
    optional: ["role"],
  },
  "users.resetPassword": { access: "administrators", input: { id: "usr_absent" } },
  "users.setRole": { access: "administrators", input: { id: "usr_absent", role: "admin" } },
  "users.disable": { access: "administrators", input: { id: "usr_absent" } },
  "users.enable": { access: "administrators", input: { id: "usr_absent" } },

  "keys.list": { access: "members", input: {}, optional: ["ownerId"] },
  "keys.counts": { access: "members", input: {}, optional: ["ownerId"] },
  "keys.get": { access: "members", input: { id: "" } },
  "keys.find": { access: "members", input: { text: "key_absent" } },
  "keys.usage": { access: "members", input: { id: "" } },
  "keys.create": { access: "members", input: { name: "A key" }, optional: ["ownerId"] },
  "keys.rename": { access: "members", input: { id: "", name: "Renamed" } },
  "keys.setModels": { access: "members", input: { id: "", models: [] } },
  "keys.setLimits": {
    access: "members",
    input: { id: "", limits: { requestsPerMinute: 1, budgetsUsd: {} } },
    optional: ["limits"],
  },
  "keys.setChargeFactor": { access: "administrators", input: { id: "", chargeFactor: 1.15 } },
  "keys.deactivate": { access: "members", input: { id: "" } },
  "keys.activate": { access: "members", input: { id: "" } },
  "keys.rotate": { access: "members", input: { id: "" } },
  "keys.delete": { access: "members", input: { id: "" } },

  "limits.get": { access: "members", input: { holder: "gateway" } },
  "limits.set": { access: "administrators", input: { holder: "gateway", limits: { budgetsUsd: {} } } },

  "models.list": { access: "members", input: {} },
  "models.forSetup": { access: "members", input: { slugs: ["demo/echo"] } },
  "models.get": { access: "members", input: { slug: "demo/echo" } },
  "models.impact": { access: "administrators", input: { id: "mdl_absent" } },
  "models.create": { access: "administrators", input: { slug: "demo/x", providerId: "prv_absent" } },
  "models.update": { access: "administrators", input: { id: "mdl_absent", prices: {}, fallbacks: [] } },
  "models.delete": { access: "administrators", input: { id: "mdl_absent" } },
  "models.known": { access: "administrators", input: { providerId: "prv_absent" } },

  "overview.get": { access: "members", input: { period: "7d" } },
  "overview.budgets": { access: "members" },
  "overview.top": { access: "members", input: { period: "7d" } },
  "overview.spending": { access: "members" },
  "overview.keys": { access: "members" },

  "providers.list": { access: "administrators" },
  "providers.health": { access: "administrators" },
  "providers.healthHistory": { access: "administrators", input: {} },
  "providers.presets": { access: "administrators" },
  "providers.privateHosts": { access: "administrators" },
  "providers.create": { access: "administrators", input: { name: "new", kind: "demo", timeouts: {} } },
  "providers.update": { access: "administrators", input: { id: "prv_absent" } },
  "providers.impact": { access: "administrators", input: { id: "prv_absent" } },
  "providers.credentialImpact": {
    access: "administrators",
    input: { id: "prv_absent", credentialId: "crd_absent" },
  },
  "providers.delete": { access: "administrators", input: { id: "prv_absent" } },
  "providers.test": { access: "administrators", input: { id: "prv_absent" } },
  "providers.discoverModels": { access: "administrators", input: { id: "prv_absent" } },
  "providers.addModels": { access: "administrators", input: { id: "prv_absent", models: ["gpt-4o"] } },
  "providers.addCredential": {
    access: "administrators",
    input: { id: "prv_absent", apiKey: "secret", weight: 1 },
  },
  "providers.updateCredential": {
    access: "administrators",
    input: { id: "prv_absent", credentialId: "crd_absent", weight: 1 },
  },
  "providers.removeCredential": {
    access: "administrators",
    input: { id: "prv_absent", credentialId: "crd_absent" },
  },
  "providers.environmentKeys": { access: "administrators" },
  "providers.importFromEnvironment": {
    access: "administrators",
    input: { variables: ["OPENAI_API_KEY"] },
  },
};

export type ProcedureRow = {
  access: "everybody" | "members" | "administrators";
  input?: Record<string, unknown>;
  /** Optional fields. The test for unknown fields does not send them. */
  optional?: string[];
};

/** tRPC types `_def.procedures` as a tree, but the object is flat. */
export const procedures = Object.entries(
  appRouter._def.procedures as unknown as Record<
    string,
    { _def: { type: "query" | "mutation"; inputs: unknown[] } }
  >,
).map(([path, { _def }]) => ({ path, type: _def.type, takesInput: _def.inputs.length > 0 }));
