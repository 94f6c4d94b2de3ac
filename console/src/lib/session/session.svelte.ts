import { createTRPCClient, httpLink, TRPCClientError } from "@trpc/client";
import type { inferRouterOutputs } from "@trpc/server";
import type { AppRouter } from "../../../../gateway/trpc/app-router.ts";

type SessionData = inferRouterOutputs<AppRouter>["auth"]["signIn"];
export type SignedInUser = SessionData["user"];

/**
 * Who is signed in. The access token lives in this page's memory alone; a reload gets a new one for the refresh cookie,
 * which no script can read.
 *
 * `expired` means that somebody was signed in on this page and has to sign in again: the page stays as it is, with
 * everything typed into it, and calls wait until that has happened.
 */
class Session {
  status = $state<"restoring" | "signedOut" | "signedIn" | "expired">("restoring");
  user = $state<SignedInUser | null>(null);
  /** Why nothing could be restored, when that is not simply that nobody is signed in. */
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

  /** Signs in by the refresh cookie, if there is one that counts. */
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

  /** Takes what signing in, setting up or joining answered. */
  begin({ accessToken, expiresAt, user }: SessionData): void {
    // Somebody else signed in over a page with another person's things on it: that page must not stay.
    const isAnother = this.user !== null && this.user.id !== user.id;
    this.#accessToken = accessToken;
    this.#expiresAt = new Date(expiresAt).getTime();
    this.user = user;
    this.status = "signedIn";
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    if (isAnother) location.assign("/");
  }

  /** A token that will live long enough for one call; empty when nobody is signed in. */
  async token(): Promise<string> {
    if (this.status === "signedIn" && this.#expiresAt - Date.now() < marginMs) await this.renew();
    return this.#accessToken;
  }

  /** The token is not accepted (any more): gets another, or waits until the person has signed in again. */
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

  /** Ends it on this page and in the other tabs. What waited is given up. */
  forget(): void {
    this.#otherTabs.postMessage("signed out");
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("You have signed out."));
    location.assign("/sign-in");
  }

  async refresh(): Promise<void> {
    // One at a time in this browser: a refresh token counts once.
    this.#refreshing ??= navigator.locks
      .request("refresh", async () => this.begin(await cookieApi.auth.refresh.mutate()))
      .finally(() => {
        this.#refreshing = null;
      });
    return this.#refreshing;
  }
}

/** What needs no access token: the cookie alone decides. */
const cookieApi = createTRPCClient<AppRouter>({ links: [httpLink({ url: "/trpc" })] });

const marginMs = 30_000;

export const session = new Session();
