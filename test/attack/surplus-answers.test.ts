import { setTimeout as wait } from "node:timers/promises";
import test from "ava";
import { callUpstream, createUpstreams } from "../helpers/call-upstream.ts";
import { createRawUpstream, type RawConnection } from "../helpers/raw-upstream.ts";
import { figures, isFull } from "../helpers/scale.ts";

const rounds = isFull ? 60 : 20;
const answerOf = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const surplusAfter: Record<string, (connection: RawConnection, answer: string) => void> = {
  "in the same packet": ({ socket }, answer) => socket.write(answer + answerOf("surplus")),
  "a turn later": ({ socket }, answer) => {
    socket.write(answer);
    setImmediate(() => socket.write(answerOf("surplus")));
  },
  ...Object.fromEntries(
    [1, 3, 10].map((delayMs) => [
      `${delayMs} ms later`,
      ({ socket }: RawConnection, answer: string) => {
        socket.write(answer);
        setTimeout(() => socket.write(answerOf("surplus")), delayMs);
      },
    ]),
  ),
};

for (const [delay, send] of Object.entries(surplusAfter)) {
  test(`a surplus response ${delay} reaches no other request`, async (t) => {
    const upstreams = createUpstreams(t);
    const { url } = await createRawUpstream(t, async (connection, request) => {
      const [, path = ""] = /\/(\S+) HTTP/.exec(request) ?? [];
      if (path.startsWith("attacker")) return send(connection, answerOf(path));
      // Like a real model's delay, this wait lets the surplus arrive before the victim's response.
      await wait(20);
      connection.socket.write(answerOf(path));
    });
    const wrong = { surplus: 0, another: 0, failed: 0 };
    const ask = async (path: string, isVictim: boolean) => {
      const { body, error } = await callUpstream(upstreams, `${url}/${path}`).outcome;
      if (!isVictim || (error === null && body === path)) return;
      if (error !== null) wrong.failed++;
      else if (body === "surplus") wrong.surplus++;
      else wrong.another++;
    };
    for (let round = 0; round < rounds; round++) {
      await ask(`attacker${round}`, false);
      await ask(`victim${round}`, true);
    }
    t.log(figures(`of ${rounds} answers`, wrong));
    t.deepEqual(wrong, { surplus: 0, another: 0, failed: 0 });
  });
}
