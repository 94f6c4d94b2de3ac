import { createSecretKey, hash, type KeyObject } from "node:crypto";
import type { Runtime } from "../runtime.ts";

/** Role and status are not claims, because they are always read from the database. */
export type AccessTokenClaims = { userId: string; sessionId: string };

/**
 * JWTs for the console, valid for ten minutes. The first secret signs tokens and all secrets verify them, so that a
 * new first secret ends no session.
 */
export class AccessTokens {
  readonly #now: Runtime["now"];
  readonly #keys: Map<string, KeyObject>;
  readonly #newestKeyId: string;

  constructor(secrets: string[], { now }: Pick<Runtime, "now">) {
    this.#now = now;
    this.#keys = new Map(secrets.map((secret) => [keyIdOf(secret), createSecretKey(secret, "utf8")]));
    this.#newestKeyId = keyIdOf(secrets[0] ?? "");
  }

  async sign({ userId, sessionId }: AccessTokenClaims): Promise<{ accessToken: string; expiresAt: Date }> {
    const { SignJWT } = await import("jose/jwt/sign");
    const issuedAtSeconds = Math.floor(this.#now() / 1000);
    const expiresAtSeconds = issuedAtSeconds + lifetimeSeconds;
    const accessToken = await new SignJWT({ sid: sessionId })
      .setProtectedHeader({ alg: algorithm, typ: tokenType, kid: this.#newestKeyId })
      .setSubject(userId)
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(expiresAtSeconds)
      .sign(this.#keyOf(this.#newestKeyId));
    return { accessToken, expiresAt: new Date(expiresAtSeconds * 1000) };
  }

  /** Returns null if the token is forged, expired or of another kind. */
  async verify(token: string): Promise<AccessTokenClaims | null> {
    const { jwtVerify } = await import("jose/jwt/verify");
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keyOf(header.kid ?? ""), {
        algorithms: [algorithm],
        typ: tokenType,
        issuer,
        audience,
        requiredClaims: ["sub", "sid", "exp", "iat"],
        maxTokenAge: lifetimeSeconds,
        currentDate: new Date(this.#now()),
      });
      const { sub, sid } = payload;
      return typeof sub === "string" && typeof sid === "string" ? { userId: sub, sessionId: sid } : null;
    } catch {
      return null;
    }
  }

  #keyOf(keyId: string): KeyObject {
    const key = this.#keys.get(keyId);
    if (!key) throw new Error("No secret has this key ID.");
    return key;
  }
}

const algorithm = "HS256";
const tokenType = "at+jwt";
const issuer = "model-gateway";
const audience = "model-gateway-console";
const lifetimeSeconds = 10 * 60;

/** Identifies a secret without revealing it. */
function keyIdOf(secret: string): string {
  return hash("sha256", `key id of ${secret}`).slice(0, 16);
}
