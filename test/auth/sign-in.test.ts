import test from "ava";
import { Browser } from "../helpers/browser.ts";
import { addPerson, callProcedure } from "../helpers/call-procedure.ts";
import { shareGateway } from "../helpers/shared-by-file.ts";
import { administrator, startTestGateway } from "../helpers/test-gateway.ts";
import { AttemptCounter, networkOf, SignInLimiter } from "../../gateway/auth/sign-in-limiter.ts";

// The tests share gateways, whose limits count per address, so each test uses its own addresses.
const shared = shareGateway();
const behindProxy = shareGateway({ environment: { TRUSTED_PROXIES: "1" } });

test.serial("ten wrong passwords lock out their address, not the account's owner", async (t) => {
  const { email, password } = await addPerson(shared(), "bob@example.com");
  const attempt = (text: string, from: string) => new Browser(shared()).signIn(email, text, from);

  const attempts = await Promise.all(
    Array.from({ length: 12 }, () => attempt("wrong password", "127.0.1.1")),
  );

  t.is(attempts.filter(({ code }) => code === "UNAUTHORIZED").length, 10, "parallel guesses count too");
  const refused = await attempt(password, "127.0.1.1");
  t.is(refused.code, "TOO_MANY_REQUESTS");
  t.is(refused.status, 429);
  const { retryAfterSeconds = 0 } = refused.error?.data ?? {};
  t.true(Number(retryAfterSeconds) > 0 && Number(retryAfterSeconds) <= 900);
  t.regex(refused.error?.message ?? "", /minutes/);
  t.is((await attempt(password, "127.0.1.100")).status, 200, "the owner, from another address");
  const other = await new Browser(shared()).signIn(administrator.email, administrator.password, "127.0.1.1");
  t.is(other.status, 200, "another account is not concerned");
});

test.serial("another spelling of an account counts as the same account", async (t) => {
  const { email, password } = await addPerson(shared(), "carl@example.com");
  const spellings = [email, email.toUpperCase(), ` ${email}`, "Carl@Example.com"];
  for (let index = 0; index < 10; index++) {
    await new Browser(shared()).signIn(spellings[index % 4] ?? "", "wrong password", "127.0.2.1");
  }
  const answer = await new Browser(shared()).signIn(email, password, "127.0.2.1");
  t.is(answer.code, "TOO_MANY_REQUESTS");
});

test.serial("an address may send fifty wrong passwords over all accounts", async (t) => {
  const attempts = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      new Browser(shared()).signIn(`nobody${index}@example.com`, "wrong password", "127.0.3.1"),
    ),
  );
  t.is(attempts.filter(({ code }) => code === "UNAUTHORIZED").length, 50);
  t.is(attempts.filter(({ code }) => code === "TOO_MANY_REQUESTS").length, 10);
  const { email, password } = administrator;
  t.is((await new Browser(shared()).signIn(email, password, "127.0.3.2")).status, 200);
});

test.serial("a correct password resets earlier failures", async (t) => {
  const { email, password } = await addPerson(shared(), "dora@example.com");
  for (let round = 0; round < 3; round++) {
    for (let wrong = 0; wrong < 9; wrong++) {
      await new Browser(shared()).signIn(email, "wrong password", "127.0.4.1");
    }
    t.is((await new Browser(shared()).signIn(email, password, "127.0.4.1")).status, 200);
  }
});

test.serial("a forged proxy header does not change the client's address", async (t) => {
  const attempts = await Promise.all(
    Array.from({ length: 55 }, (_, index) =>
      callProcedure(shared(), "auth.signIn", {
        input: { email: `nobody${index}@example.org`, password: "wrong password" },
        headers: { "x-forwarded-for": `198.51.100.${index}` },
        from: "127.0.5.1",
      }),
    ),
  );
  t.is(attempts.filter(({ code }) => code === "TOO_MANY_REQUESTS").length, 5);
});

test.serial("wrong current passwords count against the account", async (t) => {
  const { accessToken } = await addPerson(shared(), "fred@example.com");
  const change = () =>
    callProcedure(shared(), "auth.changePassword", {
      accessToken,
      input: { currentPassword: "wrong password", newPassword: "a new password" },
      from: "127.0.6.1",
    });
  for (let index = 0; index < 10; index++) t.is((await change()).code, "FORBIDDEN");
  t.is((await change()).code, "TOO_MANY_REQUESTS");
});

test.serial("an unknown account and a wrong password receive the same response", async (t) => {
  const answers = [
    await new Browser(shared()).signIn("nobody@example.net", "wrong password", "127.0.7.1"),
    await new Browser(shared()).signIn(administrator.email, "wrong password", "127.0.7.1"),
  ];
  const message = "The email address or the password is wrong. Check both.";
  for (const { status, code, error } of answers)
    t.deepEqual([status, code, error?.message], [401, "UNAUTHORIZED", message]);
});

/** Signs in through a trusted proxy that reports the client's address. */
const signInFrom = (address: string, email: string, password: string) =>
  callProcedure(behindProxy(), "auth.signIn", {
    input: { email, password },
    headers: { "x-forwarded-for": address },
  });

const guess = (email: string, addresses: string[]) =>
  Promise.all(addresses.map((address) => signInFrom(address, email, "wrong password")));

const addressesOf = (count: number, format: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => format(index + 1));

const codesOf = (answers: { code: string | undefined }[]) => {
  const count = (wanted: string) => answers.filter(({ code }) => code === wanted).length;
  return { wrong: count("UNAUTHORIZED"), refused: count("TOO_MANY_REQUESTS") };
};

test.serial("all addresses of an IPv6 /64 share one counter", async (t) => {
  const { email, password } = await addPerson(behindProxy(), "gina@example.com");
  const guesses = await guess(
    email,
    addressesOf(14, (index) => `2001:db8:0:1:${index}::${index}`),
  );
  t.deepEqual(codesOf(guesses), { wrong: 10, refused: 4 });
  t.is((await signInFrom("2001:db8:0:1::99", email, password)).code, "TOO_MANY_REQUESTS");
  t.is((await signInFrom("2001:db8:0:2::99", email, password)).status, 200);

  const everywhere = await Promise.all(
    addressesOf(60, (index) => `2001:db8:0:3::${index}`).map((address, index) =>
      signInFrom(address, `nobody${index}@example.com`, "wrong password"),
    ),
  );
  t.deepEqual(codesOf(everywhere), { wrong: 50, refused: 10 });
});

test.serial("guesses from many addresses lock out strangers but not known addresses", async (t) => {
  const { email, password } = await addPerson(behindProxy(), "hugo@example.com");
  t.is((await signInFrom("192.0.2.1", email, password)).status, 200);

  const guesses = await guess(
    email,
    addressesOf(60, (index) => `198.51.100.${index}`),
  );
  t.deepEqual(codesOf(guesses), { wrong: 50, refused: 10 });
  t.is((await signInFrom("203.0.113.1", email, password)).code, "TOO_MANY_REQUESTS");
  t.is((await signInFrom("::ffff:192.0.2.1", email, password)).status, 200, "the same in another form");

  const known = await guess(
    email,
    addressesOf(12, () => "192.0.2.1"),
  );
  t.deepEqual(codesOf(known), { wrong: 10, refused: 2 }, "a known address may guess no more than others");
});

/** Returns a cookie's attributes, such as `Path=/trpc; HttpOnly`, as a map with lowercase names. */
function attributesOf(setCookie: string): Map<string, string> {
  const [, ...attributes] = setCookie.split(";").map((part) => part.trim());
  return new Map(
    attributes.map((attribute) => {
      const [name = "", value = ""] = attribute.split("=");
      return [name.toLowerCase(), value];
    }),
  );
}

for (const publicUrl of ["http://gateway.example.com", "https://gateway.example.com"]) {
  test(`under ${publicUrl} the refresh cookie is sent only to the console's API`, async (t) => {
    const gateway = await startTestGateway(t, { environment: { PUBLIC_URL: publicUrl } });
    const browser = new Browser(gateway);
    const isSecure = publicUrl.startsWith("https:");
    const check = (setCookie = "") => {
      const attributes = attributesOf(setCookie);
      t.true(attributes.has("httponly"));
      t.is(attributes.get("samesite"), "Strict");
      t.is(attributes.get("path"), "/trpc");
      t.is(attributes.has("secure"), isSecure);
      t.false(attributes.has("domain"));
      return new Date(attributes.get("expires") ?? Number.NaN).getTime() - Date.now();
    };

    await browser.signIn(administrator.email, administrator.password);
    const lifetimeMs = check(browser.setCookie);
    t.true(lifetimeMs > 29 * 86_400_000 && lifetimeMs <= 30 * 86_400_000);
    await browser.refresh();
    check(browser.setCookie);
    await browser.call("auth.signOut");
    t.true(check(browser.setCookie) < 0, "the cookie is taken back under the same attributes");
  });
}

test("cross-site requests are refused", async (t) => {
  const gateway = await startTestGateway(t);
  const from = (site: string, path: string, type: "query" | "mutation", input?: unknown) =>
    callProcedure(gateway, path, { type, input, headers: { "sec-fetch-site": site } });
  const credentials = { email: administrator.email, password: administrator.password };

  for (const answer of [
    await from("cross-site", "auth.signIn", "mutation", credentials),
    await from("cross-site", "auth.signOut", "mutation"),
    await from("cross-site", "auth.state", "query"),
  ]) {
    t.is(answer.code, "FORBIDDEN");
    t.is(answer.status, 403);
    t.is(answer.headers["set-cookie"], undefined);
    t.false(answer.text.includes("    at "));
  }

  for (const site of ["same-origin", "none"]) {
    t.is((await from(site, "auth.signIn", "mutation", credentials)).status, 200, site);
  }
});

test("responses of the console's API are not cached", async (t) => {
  const gateway = await startTestGateway(t);
  for (const path of ["auth.state", "keys.list", "no.such"]) {
    const { headers } = await callProcedure(gateway, path, { type: "query" });
    t.is(headers["cache-control"], "no-store", path);
    t.regex(String(headers["x-request-id"]), /^req_/);
  }
});

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
