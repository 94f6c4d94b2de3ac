import { availableParallelism } from "node:os";
import test from "ava";
import { readConfig } from "../gateway/config/config.ts";

test("WORKERS is a number or one per core, and more than one requires MySQL", (t) => {
  const DATABASE_URL = "mysql://user:password@db.example.com/name";
  t.is(readConfig({ DATABASE_URL, WORKERS: "3" }).workers, 3);
  t.is(readConfig({ DATABASE_URL, WORKERS: "auto" }).workers, availableParallelism());
  t.is(readConfig({ WORKERS: "auto" }).workers, 1);
  t.is(readConfig({ WORKERS: "1" }).workers, 1);
  t.throws(() => readConfig({ WORKERS: "2" }), {
    message: /problem:\n {2}WORKERS: 2 workers require MySQL/,
  });
  for (const WORKERS of ["0", "-1", "1.5", "all", "1000"]) {
    t.throws(() => readConfig({ DATABASE_URL, WORKERS }), {
      message: /problem:\n {2}WORKERS: ".+" is not a number of workers/,
    });
  }
});
