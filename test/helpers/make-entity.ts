import type { TRPCClient } from "@trpc/client";
import type { AppRouter } from "../../gateway/trpc/app-router.ts";

/**
 * Creates the entity that the procedure's input refers to.
 * @param leadId a user who becomes a lead of a new team
 */
export async function makeEntity(
  console: TRPCClient<AppRouter>,
  path: string,
  leadId?: string,
): Promise<{ id: string; credentialId?: string; ownerId?: string; userId?: string }> {
  const name = `thing${++count}`;
  if (path.startsWith("keys.")) {
    const { key } = await console.keys.create.mutate({ name });
    return { id: key.id, ...(path === "keys.setOwner" && { ownerId: key.owner?.id ?? "" }) };
  }
  if (path.startsWith("teams.")) {
    const { id } = await console.teams.create.mutate({ name });
    if (leadId !== undefined) await console.teams.addMember.mutate({ id, userId: leadId, role: "lead" });
    if (!/Member|setRole/.test(path)) return { id };
    const { user } = await console.users.invite.mutate({ name, email: `${name}@example.com` });
    if (path !== "teams.addMember") await console.teams.addMember.mutate({ id, userId: user.id });
    return { id, userId: user.id };
  }
  if (path.startsWith("users.")) {
    const { user } = await console.users.invite.mutate({ name, email: `${name}@example.com` });
    return { id: user.id };
  }
  const provider = await console.providers.create.mutate({ name, kind: "demo", apiKey: "secret" });
  if (path.startsWith("models.")) {
    const model = { slug: `${name}/model`, providerId: provider.id };
    return { id: (await console.models.create.mutate(model)).id };
  }
  const [credential] = provider.credentials;
  return {
    id: provider.id,
    ...(/(update|remove)Credential|credentialImpact/.test(path) && { credentialId: credential?.id ?? "" }),
  };
}

let count = 0;
