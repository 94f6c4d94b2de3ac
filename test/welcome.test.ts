import test from "ava";
import { startGatewayProcess } from "./helpers/gateway-process.ts";
import { createTestFolder } from "./helpers/test-folder.ts";
import { createConsoleClient } from "./helpers/test-gateway.ts";

test("provider keys in the environment are offered by name until a provider exists", async (t) => {
  const MISTRAL_API_KEY = "sk-hidden-word-0123456789";
  const administrator = { ADMIN_EMAIL: "ada@example.com", ADMIN_PASSWORD: "correct horse battery" };
  const DATA_DIR = await createTestFolder(t);
  const environment = { PORT: "0", DATA_DIR, MISTRAL_API_KEY, ...administrator };
  const gateway = startGatewayProcess(t, environment);
  const url = await gateway.listening();
  t.regex(gateway.stdout(), /contains keys for new providers: MISTRAL_API_KEY\.\n/);

  const { accessToken } = await createConsoleClient(url).auth.signIn.mutate({
    email: administrator.ADMIN_EMAIL,
    password: administrator.ADMIN_PASSWORD,
  });
  const { providers } = createConsoleClient(url, accessToken);
  t.deepEqual(
    (await providers.list.query()).map(({ name }) => name),
    ["demo"],
    "nothing is imported silently",
  );
  await providers.importFromEnvironment.mutate({ variables: ["MISTRAL_API_KEY"] });
  gateway.child.kill("SIGTERM");
  t.is(await gateway.exited, 0, gateway.stderr());

  const second = startGatewayProcess(t, environment);
  await second.listening();
  for (const process of [gateway, second]) {
    t.false((process.stdout() + process.stderr()).includes("hidden-word"));
  }
  t.false(second.stdout().includes("MISTRAL_API_KEY"));
});
