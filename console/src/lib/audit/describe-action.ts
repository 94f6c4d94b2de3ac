import type { Outputs } from "#lib/session/api.ts";

type Action = Outputs["audit"]["actions"][number];

const words: Record<Action, string> = {
  "key.create": "Key created",
  "key.rename": "Key renamed",
  "key.setModels": "Key models changed",
  "key.setLimits": "Key limits changed",
  "key.setChargeFactor": "Key charge changed",
  "key.activate": "Key activated",
  "key.deactivate": "Key deactivated",
  "key.rotate": "Key rotated",
  "key.delete": "Key deleted",
  "model.create": "Model added",
  "model.update": "Model changed",
  "model.delete": "Model deleted",
  "provider.create": "Provider added",
  "provider.update": "Provider changed",
  "provider.delete": "Provider deleted",
  "provider.addModels": "Models added",
  "provider.addCredential": "Provider key added",
  "provider.updateCredential": "Provider key changed",
  "provider.removeCredential": "Provider key removed",
  "user.setUp": "Gateway set up",
  "user.invite": "Person invited",
  "user.join": "Link used",
  "user.signIn": "Signed in",
  "user.signInFailed": "Sign-in failed",
  "user.signOut": "Signed out",
  "user.signOutEverywhere": "Signed out everywhere",
  "user.changePassword": "Password changed",
  "user.resetPassword": "Reset link created",
  "user.rename": "Person renamed",
  "user.setRole": "Role changed",
  "user.disable": "Person disabled",
  "user.enable": "Person enabled",
};

export function describeAction(action: Action): string {
  return words[action];
}
