import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { codex } from "./coding-tools.ts";
import type { CodingTool } from "./coding-tool.ts";
import { shareToolUpstreams } from "./share-tool-upstreams.ts";
import { claudeUpstream, codexUpstream } from "./tool-upstreams.ts";
import { tryTool } from "./try-tool.ts";

const prepare = shareToolUpstreams(shareGateway());
const refused = new Set(process.env["TEST_TOOLS_REFUSED"]?.split(","));
const declare = refused.has(codex.name) ? test.serial.skip : test.serial;

/** With `supports_websockets`, Codex uses a WebSocket. The setup does not write this setting. */
const overWebSocket: CodingTool = {
  ...codex,
  run(prompt) {
    const [command = "", ...rest] = codex.run(prompt);
    return [command, "-c", "model_providers.gateway.supports_websockets=true", ...rest];
  },
};

for (const upstream of [codexUpstream, claudeUpstream]) {
  const model = upstream.models?.[0] ?? upstream.form.model;
  declare(`Codex reads a file over a WebSocket on ${upstream.provider}/${model}`, async (t) => {
    t.timeout(400_000);
    const connection = await prepare(upstream);
    await tryTool(t, { tool: overWebSocket, connection, model, isToolUsed: true });
    t.deepEqual(connection.upgrades, ["/v1/responses"]);
  });
}
