import test from "ava";
import { problemsOf } from "./helpers/problems-of.ts";

test("an unknown option in a MySQL URL is rejected", (t) => {
  const url = "mysql://user:password@db.example.com/name";
  for (const [options, message] of [
    ["?sslmode=require", /knows only the options ssl, ssl-ca, auth/],
    ["?ssl=yes", /ssl=true, ssl=rds and ssl=false only/],
    ['?ssl={"rejectUnauthorized":false}', /ssl=true, ssl=rds and ssl=false only/],
    ["?ssl=", /ssl=true, ssl=rds and ssl=false only/],
    ["?ssl=rds&ssl-ca=/etc/db.pem", /takes ssl-ca/],
    ["?ssl=false&ssl-ca=/etc/db.pem", /takes ssl-ca/],
    ["?auth=token&ssl=rds", /auth=password and auth=iam only/],
    ["?auth=iam", /needs ssl=rds: the token would be readable/],
    ["?auth=iam&ssl=false", /needs ssl=rds/],
  ] as const) {
    const [problem = "", ...more] = problemsOf({ DATABASE_URL: url + options });
    t.regex(problem, message, options);
    t.deepEqual(more, []);
  }
  for (const host of ["10.0.0.5", "[::1]"]) {
    const [problem = ""] = problemsOf({ DATABASE_URL: `mysql://user:password@${host}/name?ssl=true` });
    t.regex(problem, /the host's name, not its address/);
  }
  t.is(problemsOf({ DATABASE_URL: "mysql://user:100%@db.example.com/name" }).length, 1);
});
