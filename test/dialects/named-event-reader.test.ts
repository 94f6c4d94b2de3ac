import test from "ava";
import { NamedEventReader } from "../../gateway/dialects/named-event-reader.ts";
import { GatewayError } from "../../gateway/errors.ts";

for (const lineEnd of ["\n", "\r\n"]) {
  test(`a malformed event is read once, whatever follows it after ${JSON.stringify(lineEnd)}`, (t) => {
    for (const next of ["data: x", "event: a\ndata: x", ": ping"]) {
      let count = 0;
      const form = {
        eventNames: new Set(["a"]),
        read: () => {
          count++;
          throw new Error("not JSON");
        },
        usage: null,
      };
      const events = `event: a\ndata: {\n\n${next}\n\n`.replaceAll("\n", lineEnd);
      const { ending } = new NamedEventReader(form, { read: () => {} }).read(Buffer.from(events));
      t.true(ending instanceof GatewayError);
      t.is(count, 1, next);
    }
  });
}
