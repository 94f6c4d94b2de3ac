// This script runs before the first paint, so that a dark page never flashes white.
(() => {
  const chosen = localStorage.getItem("theme");
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
})();

// This request renews the session while the app's scripts load. `session.svelte.ts` uses the response.
if (!/^\/(sign-in|set-up|join|docs)\b/.test(location.pathname)) {
  const refresh = async () => {
    const headers = { "content-type": "application/json" };
    const response = await fetch("/trpc/auth.refresh", { method: "POST", headers });
    // The body is read here, because some pages ignore the response, and an unread body occupies a connection.
    return new Response(await response.text(), response);
  };
  // The app waits for the same lock, because a refresh token works once.
  void navigator.locks.request("refresh", () => {
    globalThis.earlyRefresh = refresh();
    return globalThis.earlyRefresh.catch(() => {});
  });
}
