import test from "ava";
import { networkOf } from "../../gateway/auth/sign-in-limiter.ts";

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
