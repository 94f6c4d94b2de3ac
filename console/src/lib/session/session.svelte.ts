import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import type { AppRouter } from "../../../../gateway/trpc/app-router.ts";

type SessionData = inferRouterOutputs<AppRouter>["auth"]["signIn"];
export type SignedInUser = SessionData["user"];

/**
 * The access token exists only in this page's memory. A reload exchanges the refresh cookie for a new token.
 * `expired` keeps the page and its input until the next sign-in.
 */
class Session {
  status = $state<"restoring" | "signedOut" | "signedIn" | "expired">("restoring");
  user = $state<SignedInUser | null>(null);
  /** The reason why restoring failed. Null otherwise, and if there was no session to restore. */
  problem = $state<string | null>(null);
  #accessToken = "";
  #expiresAt = 0;
  #refreshing: Promise<void> | null = null;
  #waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  readonly #otherTabs = new BroadcastChannel("session");

  constructor() {
    this.#otherTabs.onmessage = ({ data }) => {
      if (data === "signed out" && this.user !== null) location.assign("/sign-in");
    };
  }

  /** Signs in with a valid refresh cookie. */
  async restore(): Promise<void> {
    this.problem = null;
    try {
      await this.refresh();
    } catch (error) {
      const isNobody = error instanceof TRPCClientError && error.data?.code === "UNAUTHORIZED";
      if (!isNobody) this.problem = error instanceof Error ? error.message : String(error);
      this.status = "signedOut";
    }
  }

  /** Starts or renews a session from a sign-in, setup, join or refresh response. */
  begin({ accessToken, expiresAt, user }: SessionData): void {
    // Another user's sign-in must not show the previous user's data.
    const isAnother = this.user !== null && this.user.id !== user.id;
    this.#accessToken = accessToken;
    this.#expiresAt = new Date(expiresAt).getTime();
    this.user = user;
    this.status = "signedIn";
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    if (isAnother) location.assign("/");
  }

  /** The access token, renewed if it expires soon. Empty before the first sign-in. */
  async token(): Promise<string> {
    if (this.status === "signedIn" && this.#expiresAt - Date.now() < marginMs) await this.renew();
    return this.#accessToken;
  }

  /** Replaces the access token. If the session has ended, waits until the user signs in again. */
  async renew(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      const isRefused = error instanceof TRPCClientError && error.data?.code === "UNAUTHORIZED";
      if (!isRefused) throw error;
      if (this.status === "signedIn") this.status = "expired";
      if (this.status !== "expired") throw error;
      await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    }
  }

  async signOut(): Promise<void> {
    await cookieApi.auth.signOut.mutate().catch(() => {});
    this.forget();
  }

  /** Ends the session on this page and in other tabs. Waiting calls fail. */
  forget(): void {
    this.#otherTabs.postMessage("signed out");
    for (const { reject } of this.#waiting.splice(0))
      reject(new Error("You have signed out. Sign in again."));
    location.assign("/sign-in");
  }

  async refresh(): Promise<void> {
    // One refresh at a time per browser, because a refresh token works once.
    this.#refreshing ??= navigator.locks
      .request("refresh", async () => this.begin(await cookieApi.auth.refresh.mutate()))
      .finally(() => {
        this.#refreshing = null;
      });
    return this.#refreshing;
  }
}

/** The client for calls that need only the cookie. */
const cookieApi = createTRPCClient<AppRouter>({
  links: [httpLink({ url: "/trpc", fetch: (url, options) => takeEarlyRefresh(url) ?? fetch(url, options) })],
});

declare global {
  var earlyRefresh: Promise<Response> | undefined;
}

/** The response to the refresh that `static/before-app.js` began. The response serves one call. */
function takeEarlyRefresh(url: RequestInfo | URL | string): Promise<Response> | undefined {
  if (url !== "/trpc/auth.refresh") return undefined;
  const response = globalThis.earlyRefresh;
  globalThis.earlyRefresh = undefined;
  return response;
}

const marginMs = 30_000;

export const session = new Session();
