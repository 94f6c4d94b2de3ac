import test from "ava";
import { problemsOf } from "./helpers/problems-of.ts";

test("an unknown option in a MySQL URL is rejected", (t) => {
  const url = "mysql://user:password@db.example.com/name";
  for (const [options, message] of [
    ["?sslmode=require", /supports only the options ssl, ssl-ca, auth/],
    ["?ssl=yes", /supports only ssl=true, ssl=rds and ssl=false/],
    ['?ssl={"rejectUnauthorized":false}', /supports only ssl=true, ssl=rds and ssl=false/],
    ["?ssl=", /supports only ssl=true, ssl=rds and ssl=false/],
    ["?ssl=rds&ssl-ca=/etc/db.pem", /accepts ssl-ca/],
    ["?ssl=false&ssl-ca=/etc/db.pem", /accepts ssl-ca/],
    ["?auth=token&ssl=rds", /supports only auth=password and auth=iam/],
    ["?auth=iam", /requires ssl=rds: the token would be unencrypted/],
    ["?auth=iam&ssl=false", /requires ssl=rds/],
  ] as const) {
    const [problem = "", ...more] = problemsOf({ DATABASE_URL: url + options });
    t.regex(problem, message, options);
    t.deepEqual(more, []);
  }
  for (const host of ["10.0.0.5", "[::1]"]) {
    const [problem = ""] = problemsOf({ DATABASE_URL: `mysql://user:password@${host}/name?ssl=true` });
    t.regex(problem, /a host name, not an address/);
  }
  t.is(problemsOf({ DATABASE_URL: "mysql://user:100%@db.example.com/name" }).length, 1);
});
