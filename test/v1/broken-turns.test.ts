import test from "ava";
import { responses } from "../helpers/client-dialects.ts";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { eventually } from "../helpers/eventually.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { createUpstream } from "../helpers/scripted-upstream.ts";
import { startTestGateway } from "../helpers/test-gateway.ts";

test("a turn ends even if the upstream's last event is invalid JSON", async (t) => {
  const gateway = await startTestGateway(t);
  const native = await createUpstream(t, (_request, response) => {
    const invalid = responses
      .events("gpt")
      .join("")
      .replace('"type":"response.completed"', '$&,"logprob":-Infinity');
    response.writeHead(200, { "content-type": "text/event-stream" }).end(invalid);
  });
  const key = await connectUpstream(gateway, native, { name: "infinite", preset: "openai" });
  const { socket, send } = await openSocket(t, gateway, key.value);
  // The helper would parse the frames.
  socket.removeAllListeners("message");
  // Turns of one stream run one after another, so the second one needs the end of the first.
  const turn = {
    type: "response.create",
    model: "infinite/model",
    input: "Hi",
    store: false,
    stream_id: "s",
  };
  for (let count = 0; count < 2; count++) send(turn);
  await eventually(() => native.requests.length === 2);
  t.pass();
});
