import type { ExecutionContext } from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import {
  type Answer,
  type Asked,
  createNativeUpstream,
  type NativeUpstream,
} from "../helpers/native-upstreams/native-upstream.ts";
import type { VendorRefusal } from "../helpers/native-upstreams/vendor-refusal.ts";
import type { TestGateway } from "../helpers/test-gateway.ts";
import type { ConverseOptions } from "./scenario-client.ts";
import type { Vendor } from "./vendors.ts";

export async function connectVendor(
  t: Pick<ExecutionContext, "teardown">,
  gateway: TestGateway,
  { form, preset, thinksByBudget }: Vendor,
  script: Script,
): Promise<Connection> {
  const upstream = await createNativeUpstream(t, form, script);
  const { kind, baseUrl, apiKey, model: upstreamModel } = upstream;
  const name = `${kind}-${new URL(baseUrl).port}`;
  const settings = { name, kind, preset, path: "", apiKey, upstreamModel };
  const { id: keyId, value, model } = await connectUpstream(gateway, { url: baseUrl }, settings);
  const options = {
    baseUrl: `${gateway.url}/v1`,
    apiKey: value,
    model,
    thinksByBudget: thinksByBudget === true,
  };
  return { upstream, options, keyId };
}

export type Script = (asked: Asked) => Answer | VendorRefusal;

export type Connection = {
  upstream: NativeUpstream;
  options: Pick<ConverseOptions, "baseUrl" | "apiKey" | "model" | "thinksByBudget">;
  keyId: string;
};
