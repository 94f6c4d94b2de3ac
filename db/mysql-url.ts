import { isIP } from "node:net";

export type MysqlAddress = {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  /** The certificate authorities that the client trusts. Null for an unencrypted connection. */
  tls: TlsAuthorities | null;
  /** `iam`: each connection sends a new Amazon RDS token instead of a password. */
  auth: "password" | "iam";
};

/**
 * `public`: the authorities that Node trusts. `rds`: Amazon's authorities for RDS and Aurora. `file`: the path
 * of a PEM file.
 */
export type TlsAuthorities = "public" | "rds" | { file: string };

/**
 * Parses `mysql://user:password@host:3306/name?ssl=true`. TLS always verifies the certificate and the host name.
 * Throws a `MysqlUrlError` for an unknown option, which may be a misspelled security option.
 */
export function parseMysqlUrl(text: string): MysqlAddress {
  const url = new URL(text);
  const options = Object.fromEntries(url.searchParams);
  for (const name of Object.keys(options)) {
    if (!optionNames.includes(name))
      throw new MysqlUrlError(`has an unknown option. Use only ssl, ssl-ca and auth.`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const tls = readAuthorities(options);
  if (tls && isIP(host) !== 0) {
    throw new MysqlUrlError(
      "has an IP address as its host, but certificates are for host names. Use the host name of the server's certificate, or remove ssl.",
    );
  }
  const auth = options["auth"] ?? "password";
  if (auth !== "password" && auth !== "iam")
    throw new MysqlUrlError("has an unknown auth option. Use auth=password or auth=iam.");
  if (auth === "iam" && !tls)
    throw new MysqlUrlError("has auth=iam without ssl, so the token would be sent unencrypted. Add ssl=rds.");
  return {
    host,
    port: url.port === "" ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    tls,
    auth,
  };
}

/** The message continues a sentence whose subject is the URL. It never quotes the URL, which contains the password. */
export class MysqlUrlError extends Error {
  override readonly name = "MysqlUrlError";
}

const optionNames = ["ssl", "ssl-ca", "auth"];

function readAuthorities({ ssl, "ssl-ca": file }: Record<string, string>): TlsAuthorities | null {
  if (ssl !== undefined && !["true", "false", "rds"].includes(ssl)) {
    throw new MysqlUrlError("has an unknown ssl option. Use ssl=true, ssl=rds or ssl=false.");
  }
  if (file !== undefined) {
    if (file === "" || ssl === "rds" || ssl === "false") {
      throw new MysqlUrlError(
        "has an unusable ssl-ca option. Use ssl-ca=/path/to/certificates.pem, with ssl=true or without ssl.",
      );
    }
    return { file };
  }
  if (ssl === "rds") return "rds";
  return ssl === "true" ? "public" : null;
}
