import test from "ava";
import { AttemptCounter, SignInLimiter } from "../../gateway/auth/sign-in-limiter.ts";

const minutes = 60_000;
const [account, stranger, owner] = ["ada@example.com", "198.51.100.1", "192.0.2.1"];
const wrong = async () => ({ isRight: false });
const right = async () => ({ isRight: true });

function create() {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const limiter = new SignInLimiter({ now: () => clock.now });
  const guess = async (count: number, address = stranger) => {
    for (let index = 0; index < count; index++) await limiter.attempt(account, address, wrong);
  };
  return { clock, limiter, guess };
}

test("a locked address may try again after exactly 15 minutes", async (t) => {
  const { clock, limiter, guess } = create();
  await guess(10);
  clock.now += 15 * minutes - 1;
  await t.throwsAsync(limiter.attempt(account, stranger, right), { message: /Retry in 1 minute\./ });
  clock.now += 1;
  await t.notThrowsAsync(limiter.attempt(account, stranger, right));
});

test("refused attempts do not prolong a lock", async (t) => {
  const { clock, limiter, guess } = create();
  await guess(10);
  for (let minute = 0; minute < 15; minute++) {
    await t.throwsAsync(limiter.attempt(account, stranger, right));
    clock.now += minutes;
  }
  await t.notThrowsAsync(limiter.attempt(account, stranger, right));
});

test("an attempt whose password could not be checked is not counted", async (t) => {
  const { limiter, guess } = create();
  for (let index = 0; index < 60; index++) {
    const failing = limiter.attempt(account, stranger, () => Promise.reject(new Error("busy")));
    await t.throwsAsync(failing, { message: "busy" });
  }
  await guess(10);
  await t.throwsAsync(guess(1), { message: /Too many attempts/ });
});

test("an owner's sign-in resets the owner's failures, not a stranger's", async (t) => {
  const { limiter, guess } = create();
  await guess(9, owner);
  await limiter.attempt(account, owner, right);
  for (let network = 1; network <= 5; network++) await guess(9, `198.51.100.${network}`);
  const { attempts } = await limiter.attempt(account, owner, right);
  t.is(attempts, 46);
  await guess(5, "198.51.100.6");
  await t.throwsAsync(guess(1, "198.51.100.7"), { message: /Too many attempts/ });
  await t.notThrowsAsync(limiter.attempt(account, owner, right));
});

test("a full counter drops its oldest key", (t) => {
  const counter = new AttemptCounter({ now: () => 0, attemptsMax: 1, windowMs: minutes, keysMax: 1_000 });
  for (let key = 0; key < 1_500; key++) t.is(counter.add(String(key)), 1);
  for (let key = 0; key < 1_500; key++) t.is(counter.waitMs(String(key)) > 0, key >= 500, String(key));
});

test("a counter drops a key when its window ends", (t) => {
  const clock = { now: 0 };
  const counter = new AttemptCounter({
    now: () => clock.now,
    attemptsMax: 2,
    windowMs: minutes,
    keysMax: 10,
  });
  counter.add("early");
  clock.now += minutes / 2;
  counter.add("late");
  clock.now += minutes / 2;
  t.is(counter.add("early"), 1);
  t.is(counter.add("late"), 2);
});
