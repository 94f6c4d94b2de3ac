import test from "ava";
import { startTestGateway } from "../helpers/test-gateway.ts";

test("the console learns where clients reach the gateway, if that was configured, and its version", async (t) => {
  const plain = await startTestGateway(t);
  const { publicUrl, version } = await plain.admin.gateway.info.query();
  t.is(publicUrl, null);
  t.regex(version, /^\d+\.\d+\.\d+/);

  const configured = await startTestGateway(t, { environment: { PUBLIC_URL: "https://ai.example.com/" } });
  t.is((await configured.admin.gateway.info.query()).publicUrl, "https://ai.example.com");
});
