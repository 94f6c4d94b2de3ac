import { parseCookie } from "cookie";
import { callProcedure, type ConsoleAnswer } from "./call-procedure.ts";
import type { TestGateway } from "./test-gateway.ts";

type SessionData = { accessToken: string; expiresAt: string; user: { id: string; email: string } };

/** Keeps the refresh cookie and the access token, like the console in a browser. */
export class Browser {
  readonly #gateway: Pick<TestGateway, "url">;
  refreshToken: string | undefined;
  accessToken: string | undefined;
  /** The latest complete `set-cookie` header. */
  setCookie: string | undefined;

  constructor(gateway: Pick<TestGateway, "url">) {
    this.#gateway = gateway;
  }

  /** Returns a browser with the same tokens, like a second tab or a thief's browser. */
  copy(): Browser {
    return Object.assign(new Browser(this.#gateway), {
      refreshToken: this.refreshToken,
      accessToken: this.accessToken,
    });
  }

  async call(path: string, options: Parameters<typeof callProcedure>[2] = {}): Promise<ConsoleAnswer> {
    const { refreshToken, accessToken } = this;
    const answer = await callProcedure(this.#gateway, path, {
      accessToken,
      ...options,
      headers: {
        ...(refreshToken !== undefined && { cookie: `theme=dark; gateway_refresh=${refreshToken}` }),
        ...options.headers,
      },
    });
    const [setCookie] = answer.headers["set-cookie"] ?? [];
    if (setCookie !== undefined) {
      this.setCookie = setCookie;
      this.refreshToken = parseCookie(setCookie)["gateway_refresh"] || undefined;
    }
    const { accessToken: newToken } = (answer.data ?? {}) as Partial<SessionData>;
    if (newToken !== undefined) this.accessToken = newToken;
    return answer;
  }

  signIn(email: string, password: string, from?: string): Promise<ConsoleAnswer> {
    const input = { email, password };
    return this.call("auth.signIn", from === undefined ? { input } : { input, from });
  }

  refresh(): Promise<ConsoleAnswer> {
    return this.call("auth.refresh");
  }

  /** Returns `OK` if the access token is valid, otherwise the error code. */
  async messageOf(): Promise<string> {
    return (await this.call("keys.list", { type: "query" })).code ?? "OK";
  }
}
