import test from "ava";
import { AttemptCounter, networkOf, SignInLimiter } from "../../gateway/auth/sign-in-limiter.ts";

const minutes = 60_000;
const [account, stranger, owner] = ["ada@example.com", "198.51.100.1", "192.0.2.1"];
const wrong = async () => ({ isRight: false });
const right = async () => ({ isRight: true });

function create() {
  const clock = { now: Date.parse("2026-06-01T12:00:00Z") };
  const limiter = new SignInLimiter({ monotonicNow: () => clock.now });
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

test("an IPv4 address is its own network, in any notation", (t) => {
  for (const address of ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201", "0:0:0:0:0:FFFF:C000:0201"]) {
    t.is(networkOf(address), "192.0.2.1", address);
  }
});

test("an IPv6 address belongs to its /64, in any notation", (t) => {
  const networks: Record<string, string[]> = {
    "2001:db8:1:2::/64": ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:0DB8:0001:0002::9"],
    "2001:db8:0:0::/64": ["2001:db8::5", "2001:db8:0:0:1::1", "2001:db8::192.0.2.1"],
    "2001:db8:0:1::/64": ["2001:db8::1:2:3:4:5", "2001:db8:0:1::"],
    "1:2:3:0::/64": ["1:2:3::5:6:7:8", "1:2:3:0:5:6:7:8"],
    "0:0:0:0::/64": ["::", "::1", "0:0:0:0:5:6:7:8", "::192.0.2.1"],
    "fe80:0:0:0::/64": ["fe80::1", "fe80::1%eth0", "fe80::2%1"],
  };
  for (const [network, addresses] of Object.entries(networks)) {
    for (const address of addresses) t.is(networkOf(address), network, address);
  }
});

test("an invalid address is a network of its own", (t) => {
  for (const text of ["", "unknown", "1.2.3", ":::"]) t.is(networkOf(text), text);
});
