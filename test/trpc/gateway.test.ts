import test from "ava";
import { startTestGateway } from "../helpers/test-gateway.ts";

test("the console receives the configured public URL and the version", async (t) => {
  const plain = await startTestGateway(t);
  const { publicUrl, version } = await plain.admin.gateway.info.query();
  t.is(publicUrl, null);
  t.regex(version, /^\d+\.\d+\.\d+/);

  const configured = await startTestGateway(t, { environment: { PUBLIC_URL: "https://ai.example.com/" } });
  t.is((await configured.admin.gateway.info.query()).publicUrl, "https://ai.example.com");
});
