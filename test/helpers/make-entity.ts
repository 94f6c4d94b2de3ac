import type { TRPCClient } from "@trpc/client";
import type { AppRouter } from "../../gateway/trpc/app-router.ts";

/** Creates the entity that the procedure's input refers to. */
export async function makeEntity(
  console: TRPCClient<AppRouter>,
  path: string,
): Promise<{ id: string; credentialId?: string }> {
  const name = `thing${++count}`;
  if (path.startsWith("keys.")) return { id: (await console.keys.create.mutate({ name })).key.id };
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
