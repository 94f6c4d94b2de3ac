import test from "ava";
import { auditEntries } from "../helpers/audit-entries.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { findLeaks } from "../helpers/find-leaks.ts";
import { linkToken } from "../helpers/link-token.ts";
import { databaseKinds } from "../helpers/test-database.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";
import { dumpDatabase } from "../helpers/dump-database.ts";

for (const kind of databaseKinds) {
  test(`${kind}: the audit log contains no secret, and link tokens are stored nowhere`, async (t) => {
    const environmentKey = "sk-environment-canary-0123456789";
    const gateway = await startTestGateway(t, { kind, environment: { GROQ_API_KEY: environmentKey } });
    const { admin, url } = gateway;
    const providerKey = "sk-canary-of-a-provider-0123456789";
    const secondKey = "sk-canary-of-another-0123456789";
    const queryKey = "canary-in-a-query-0123456789";
    const { id } = await admin.providers.create.mutate({
      name: "canary",
      kind: "openai-compatible",
      baseUrl: `https://api.example.com/v1?key=${queryKey}`,
      apiKey: providerKey,
    });
    const two = await admin.providers.addCredential.mutate({ id, apiKey: secondKey });
    await admin.providers.removeCredential.mutate({ id, credentialId: two.credentials[1]?.id ?? "" });
    await admin.providers.update.mutate({ id, baseUrl: `https://eu.example.com/v1?key=${queryKey}` });
    await admin.providers.importFromEnvironment.mutate({ variables: ["GROQ_API_KEY"] });
    const made = await admin.keys.create.mutate({ name: "Canary" });
    const rotated = await admin.keys.rotate.mutate({ id: made.key.id });

    const invited = await admin.users.invite.mutate({ name: "Eve", email: "eve@example.com" });
    const member = await addPerson(gateway, "member@example.com");
    const newPassword = "canary of a new password";
    await member.console.auth.changePassword.mutate({ currentPassword: member.password, newPassword });
    const reset = await admin.users.resetPassword.mutate({ id: member.id });
    const wrongPassword = "canary of a wrong password";
    const wrong = { email: member.email, password: wrongPassword };
    t.is((await callProcedure({ url }, "auth.signIn", { input: wrong })).code, "UNAUTHORIZED");
    await admin.providers.delete.mutate({ id });
    await gateway.close();

    const secrets = {
      environmentKey,
      providerKey,
      secondKey,
      keyValue: made.value,
      rotatedValue: rotated.value,
      bareValue: rotated.value.slice("sk-gateway-".length),
      password: administrator.password,
      memberPassword: member.password,
      newPassword,
      wrongPassword,
      accessToken: member.accessToken,
      invitation: linkToken(invited.link),
      reset: linkToken(reset.link),
    };
    for (const [name, secret] of Object.entries(secrets)) t.true(secret.length > 10, name);
    const dump = await dumpDatabase(gateway.environment["DATABASE_URL"] ?? "");
    t.true(dump.includes("provider.importFromEnvironment") || dump.includes("provider.create"));
    t.deepEqual(findLeaks(dump + gateway.log.join("\n"), secrets), []);

    const again = await startTestGateway(t, { kind, environment: gateway.environment });
    const told = JSON.stringify(await auditEntries(again));
    t.true(told.includes("https://eu.example.com/v1"));
    t.deepEqual(findLeaks(told, { ...secrets, queryKey }), []);
  });
}
