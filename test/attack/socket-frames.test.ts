import test from "ava";
import { connectUpstream } from "../helpers/connect-upstream.ts";
import { openSocket } from "../helpers/responses-socket.ts";
import { answerChat, createUpstream } from "../helpers/scripted-upstream.ts";
import { createKey, startTestGateway } from "../helpers/test-gateway.ts";

const model = "demo/echo";

test("a warm-up has the parameter checks of any turn, and never fails inside", async (t) => {
  const gateway = await startTestGateway(t);
  const { value } = await createKey(gateway);
  const socket = await openSocket(t, gateway, value);
  const values: unknown[] = [
    { toString: 1 },
    { length: 1 },
    [],
    [null],
    0,
    true,
    null,
    "",
    "x".repeat(2_000),
  ];
  const names = ["model", "input", "tools", "previous_response_id", "instructions", "store", "Model"];
  for (const name of names) {
    for (const each of values) {
      // A later turn may add the input.
      if (name === "input" && Array.isArray(each) && each.length === 0) continue;
      const body = { model, input: "Hi", [name]: each };
      const [warm, turn] = [
        (await socket.turn({ ...body, generate: false })).at(-1),
        (await socket.turn(body)).at(-1),
      ];
      t.not(warm?.status, 500);
      t.is(warm?.status, turn?.status, JSON.stringify(body).slice(0, 200));
      t.deepEqual(warm?.error, turn?.error);
    }
  }
  const faults = gateway.log.filter((line) => line.includes("internal error"));
  t.deepEqual(faults, []);
});

test("a frame is the HTTP request with its members, in any spelling and order", async (t) => {
  const upstream = await createUpstream(t, (request, response) => answerChat(request, response, "Done"));
  const gateway = await startTestGateway(t);
  const key = await connectUpstream(gateway, upstream);
  const socket = await openSocket(t, gateway, key.value);
  const slug = JSON.stringify(key.model);
  for (const frame of [
    `{"model":${slug},"input":"Hi","stream":false,"stream_id":"a","type":"response.create"}`,
    ` { "type" : "response.create" , "model" : ${slug} , "input" : "Hi" , "generate" : true } `,
    `{"typ\\u0065":"response.create","generate":null,"stre\\u0061m":false,"stream_id":null,"model":${slug},"input":"Hi"}`,
    `{"type":"x","type":"response.create","stream":1,"stream":2,"model":${slug},"input":"Hi"}`,
  ]) {
    const from = socket.frames.length;
    socket.send(frame);
    const last = await socket.until(() =>
      socket.frames.slice(from).find(({ type }) => type === "response.completed" || type === "error"),
    );
    t.is(last.type, "response.completed", JSON.stringify(last));
  }
  for (const [frame, param] of [
    [`{"type":"response.create","type":"x","model":${slug},"input":"Hi"}`, "type"],
    [`{"type":"response.create","mod\\u0065l":${slug},"input":"Hi"}`, null],
    [`{"type":"response.create","stream_id":"${"a".repeat(129)}","model":${slug},"input":"Hi"}`, "stream_id"],
    [`{"type":"response.create","model":${slug},"input":"Hi"`, null],
    [`{"type":"response.create","model":${slug},"input":nothing}`, null],
    [`{"type":"response.create","model":${slug},"input":[${"[".repeat(500)}${"]".repeat(500)}]}`, null],
  ] as const) {
    const from = socket.frames.length;
    socket.send(frame);
    const refused = await socket.until(() => socket.frames[from]);
    t.is(refused.status, 400, frame.slice(0, 100));
    if (param !== null) t.is(refused.error?.param, param);
  }
});
