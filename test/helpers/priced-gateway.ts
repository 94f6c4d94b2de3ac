import type { ExecutionContext } from "ava";
import { chatBody, postChat } from "./post-chat.ts";
import type { DatabaseKind } from "./test-database.ts";
import { startTestGateway, type TestGateway } from "./test-gateway.ts";

/** Starts a gateway on which one word from `demo/echo` costs a cent. */
export async function startPriced(
  t: Pick<ExecutionContext, "teardown">,
  environment: Record<string, string>,
  more: { kind?: DatabaseKind; runtime?: { now: () => number } } = {},
): Promise<TestGateway> {
  const gateway = await startTestGateway(t, { environment, ...more });
  const { id } = await gateway.admin.models.get.query({ slug: "demo/echo" });
  await gateway.admin.models.update.mutate({ id, prices: { input: 0, output: 10_000 } });
  return gateway;
}

export function spendCent(gateway: Pick<TestGateway, "url">, keyValue: string) {
  return postChat(gateway, keyValue, chatBody("demo/echo", "word"));
}

export async function keyOf(gateway: TestGateway, ownerId: string): Promise<{ id: string; value: string }> {
  const criteria = { name: "Somebody's", models: ["demo/echo"], ownerId };
  const { key, value } = await gateway.admin.keys.create.mutate(criteria);
  return { id: key.id, value };
}
