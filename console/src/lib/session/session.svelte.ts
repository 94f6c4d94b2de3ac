import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import type { AppRouter } from "../../../../gateway/trpc/app-router.ts";

type SessionData = inferRouterOutputs<AppRouter>["auth"]["signIn"];
export type SignedInUser = SessionData["user"];
export type Action = SignedInUser["actions"][number];

/**
 * The access token exists only in this page's memory. A reload exchanges the refresh cookie for a new token.
 * While `status` is `expired`, the page stays open with its input, under a sign-in dialog.
 */
class Session {
  status = $state<"restoring" | "signedOut" | "signedIn" | "expired">("restoring");
  user = $state<SignedInUser | null>(null);
  /** The error that prevented restoring. Null if there was no session to restore. */
  problem = $state.raw<unknown>(null);
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

  /** Whether the gateway lets the user do something. False before the sign-in. */
  can(action: Action): boolean {
    return this.user?.actions.includes(action) ?? false;
  }

  /** Signs in if the refresh cookie is valid. Never rejects. */
  async restore(): Promise<void> {
    this.problem = null;
    try {
      await this.refresh();
    } catch (error) {
      const isNobody = error instanceof TRPCClientError && error.data?.code === "UNAUTHORIZED";
      if (!isNobody) this.problem = error;
      this.status = "signedOut";
    }
  }

  /** Starts or renews a session from a sign-in, setup, join or refresh response. */
  begin({ accessToken, expiresAt, user }: SessionData): void {
    // If the user changes, a reload removes the previous user's data.
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

  /** Opens the sign-in page here and in all other signed-in tabs. Waiting calls fail. */
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

const cookieApi = createTRPCClient<AppRouter>({
  links: [httpLink({ url: "/trpc", fetch: (url, options) => takeEarlyRefresh(url) ?? fetch(url, options) })],
});

declare global {
  var earlyRefresh: Promise<Response> | undefined;
}

/** The response to the refresh that `static/before-app.js` started. Later calls return undefined. */
function takeEarlyRefresh(url: RequestInfo | URL | string): Promise<Response> | undefined {
  if (url !== "/trpc/auth.refresh") return undefined;
  const response = globalThis.earlyRefresh;
  globalThis.earlyRefresh = undefined;
  return response;
}

const marginMs = 30_000;

export const session = new Session();
