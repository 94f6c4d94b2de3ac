import test from "ava";
import { problemsOf } from "./helpers/problems-of.ts";

test("an unknown option in a MySQL URL is rejected", (t) => {
  const url = "mysql://user:password@db.example.com/name";
  for (const [options, message] of [
    ["?sslmode=require", /unknown option. Use only ssl, ssl-ca and auth/],
    ["?ssl=yes", /unknown ssl option. Use ssl=true, ssl=rds or ssl=false/],
    ['?ssl={"rejectUnauthorized":false}', /unknown ssl option. Use ssl=true, ssl=rds or ssl=false/],
    ["?ssl=", /unknown ssl option. Use ssl=true, ssl=rds or ssl=false/],
    ["?ssl=rds&ssl-ca=/etc/db.pem", /unusable ssl-ca option/],
    ["?ssl=false&ssl-ca=/etc/db.pem", /unusable ssl-ca option/],
    ["?auth=token&ssl=rds", /Use auth=password or auth=iam/],
    ["?auth=iam", /the token would be sent unencrypted. Add ssl=rds/],
    ["?auth=iam&ssl=false", /Add ssl=rds/],
  ] as const) {
    const [problem = "", ...more] = problemsOf({ DATABASE_URL: url + options });
    t.regex(problem, message, options);
    t.deepEqual(more, []);
  }
  for (const host of ["10.0.0.5", "[::1]"]) {
    const [problem = ""] = problemsOf({ DATABASE_URL: `mysql://user:password@${host}/name?ssl=true` });
    t.regex(problem, /an IP address as its host, but certificates are for host names/);
  }
  t.is(problemsOf({ DATABASE_URL: "mysql://user:100%@db.example.com/name" }).length, 1);
});
