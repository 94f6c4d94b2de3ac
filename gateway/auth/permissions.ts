import type { Role } from "../../db/entities/user.ts";
import { GatewayError } from "../errors.ts";

type Rule = readonly Role[];

const everyone: Rule = ["admin", "member"];
const administrators: Rule = ["admin"];

/**
 * Who may do what. Procedures have the names of their paths; those for people without a session have no rule. A
 * member's procedures see only what `ofOthers` does not hide.
 */
const rules = {
  /** Sees and changes keys of other owners, and sees their usage. */
  "keys.ofOthers": administrators,
  /** Decides about models, limits and deactivation of a key so that its owner cannot undo it. */
  "keys.overrule": administrators,
  /** Sees and changes teams without being a member or lead. */
  "teams.ofOthers": administrators,
  /** Sees the limits of other people, of the gateway and of each person or key. */
  "limits.ofOthers": administrators,
  /** Sees the amounts of the gateway's budgets. */
  "budgets.ofGateway": administrators,
  /** Sees which credential of a provider a request used. */
  "credentials.ofRequests": administrators,

  "auth.signOutEverywhere": everyone,
  "auth.me": everyone,
  "auth.rename": everyone,
  "auth.changePassword": everyone,

  "audit.list": administrators,
  "audit.actions": administrators,

  "gateway.info": everyone,

  "keys.list": everyone,
  "keys.counts": everyone,
  "keys.get": everyone,
  "keys.find": everyone,
  "keys.usage": everyone,
  "keys.create": everyone,
  "keys.rename": everyone,
  "keys.setModels": everyone,
  "keys.setLimits": everyone,
  "keys.setChargeFactor": administrators,
  "keys.setOwner": everyone,
  "keys.activate": everyone,
  "keys.deactivate": everyone,
  "keys.rotate": everyone,
  "keys.delete": everyone,

  "limits.get": everyone,
  "limits.set": administrators,

  "models.list": everyone,
  "models.forSetup": everyone,
  "models.get": everyone,
  "models.impact": administrators,
  "models.create": administrators,
  "models.update": administrators,
  "models.delete": administrators,
  "models.known": administrators,

  "overview.onboarding": everyone,
  "overview.get": everyone,
  "overview.top": everyone,
  "overview.spending": everyone,
  "overview.keys": everyone,
  "overview.budgets": everyone,

  "providers.list": administrators,
  "providers.presets": administrators,
  "providers.privateHosts": administrators,
  "providers.create": administrators,
  "providers.update": administrators,
  "providers.health": administrators,
  "providers.healthHistory": administrators,
  "providers.impact": administrators,
  "providers.delete": administrators,
  "providers.test": administrators,
  "providers.discoverModels": administrators,
  "providers.addModels": administrators,
  "providers.addCredential": administrators,
  "providers.updateCredential": administrators,
  "providers.credentialImpact": administrators,
  "providers.removeCredential": administrators,
  "providers.environmentKeys": administrators,
  "providers.importFromEnvironment": administrators,

  "teams.list": everyone,
  "teams.get": everyone,
  "teams.people": everyone,
  "teams.create": administrators,
  "teams.update": administrators,
  "teams.setStatus": administrators,
  "teams.setLimits": administrators,
  "teams.setModels": administrators,
  "teams.addMember": everyone,
  "teams.setRole": administrators,
  "teams.removeMember": everyone,

  "users.list": administrators,
  "users.get": administrators,
  "users.invite": administrators,
  "users.resetPassword": administrators,
  "users.setRole": administrators,
  "users.disable": administrators,
  "users.enable": administrators,
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof rules;

/** Who acts, as far as the rules are concerned. */
export type Actor = { readonly role: Role };

export function can({ role }: Actor, action: Action): boolean {
  return rules[action].includes(role);
}

export function actionsOf(actor: Actor): Action[] {
  return (Object.keys(rules) as Action[]).filter((action) => can(actor, action));
}

/** Throws `forbidden` unless the actor may do it. A path without a rule is a fault of the gateway. */
export function requirePermission(actor: Actor, path: string): void {
  if (!isAction(path)) throw new Error(`The procedure ${path} has no rule.`);
  if (can(actor, path)) return;
  throw new GatewayError(
    "forbidden",
    "This action requires an administrator. Ask an administrator for access.",
  );
}

function isAction(path: string): path is Action {
  return Object.hasOwn(rules, path);
}
