import test from "ava";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { postTo } from "../helpers/post-chat.ts";

const gateway = shareGateway();
const input = (bytes: number) => JSON.stringify({ name: "x".repeat(bytes) });

const cases: [title: string, path: string, isSignedIn: boolean, bytes: number, isTooLarge: boolean][] = [
  ["16 KB of a stranger", "auth.signIn", false, 17_000, true],
  ["less of a stranger", "auth.signIn", false, 15_000, false],
  ["16 KB to auth from a signed-in person", "auth.rename", true, 17_000, true],
  ["16 KB in a batch with auth", "keys.create,auth.rename?batch=1", true, 17_000, true],
  ["100 KB from a signed-in person", "keys.create", true, 100_000, false],
  ["1 MB from a signed-in person", "keys.create", true, 1_050_000, true],
];

for (const [title, path, isSignedIn, bytes, isTooLarge] of cases) {
  test(`${title} ${isTooLarge ? "is too large" : "is read"}`, async (t) => {
    const headers: Record<string, string> = isSignedIn
      ? { authorization: `Bearer ${gateway().accessToken}` }
      : {};
    const answer = await postTo(gateway(), `/trpc/${path}`, headers, input(bytes));
    t.is(answer.status === 413, isTooLarge, answer.text);
    t.is(answer.text.includes("PAYLOAD_TOO_LARGE"), isTooLarge);
  });
}

test("a forged token counts as missing", async (t) => {
  const headers = { authorization: `Bearer ${gateway().accessToken.slice(0, -4)}AAAA` };
  const answer = await postTo(gateway(), "/trpc/keys.create", headers, input(17_000));
  t.is(answer.status, 413);
});
