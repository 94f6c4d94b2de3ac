import type { AuthPlugin } from "mysql2";
import type { MysqlAddress } from "./mysql-url.ts";

/**
 * The plugin sends an Amazon RDS token instead of a password, in clear text over TLS. Each connection needs a
 * new token, because a token is valid for 15 minutes.
 * https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html
 */
export function iamAuthPlugin({ host, port, user }: MysqlAddress): AuthPlugin {
  return () => async () => {
    const { Signer } = await import("@aws-sdk/rds-signer");
    const token = await new Signer({ hostname: host, port, username: user }).getAuthToken();
    return Buffer.from(`${token}\0`, "utf8");
  };
}
