import type { AuthPlugin } from "mysql2";
import type { MysqlAddress } from "./mysql-url.ts";

/**
 * Signs in to Amazon RDS with a token in place of a password
 * (https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html). A token is good for 15 minutes and
 * looked at only when a connection is made, so each new connection gets its own. The server asks for it in clear text,
 * through TLS.
 */
export function iamAuthPlugin({ host, port, user }: MysqlAddress): AuthPlugin {
  return () => async () => {
    const { Signer } = await import("@aws-sdk/rds-signer");
    const token = await new Signer({ hostname: host, port, username: user }).getAuthToken();
    return Buffer.from(`${token}\0`, "utf8");
  };
}
