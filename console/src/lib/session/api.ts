import { createTRPCClient, httpBatchLink, type TRPCLink } from "@trpc/client";
import type { inferRouterInputs, inferRouterOutputs } from "@trpc/server";
import { observable } from "@trpc/server/observable";
import type { AppRouter } from "../../../../gateway/trpc/app-router.ts";
import { session } from "./session.svelte.ts";

export const api = createTRPCClient<AppRouter>({
  links: [
    renewing(),
    httpBatchLink({
      url: "/trpc",
      maxItems: 20,
      // With GET, the model slugs of a key could exceed the maximum length of a URL.
      methodOverride: "POST",
      headers: async () => ({ authorization: `Bearer ${await session.token()}` }),
    }),
  ],
});

export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

/** After an UNAUTHORIZED error, renews the access token and repeats the call once. */
function renewing(): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) => {
        let isRenewed = false;
        let current = call();
        function call() {
          return next(op).subscribe({
            next: (value) => observer.next(value),
            complete: () => observer.complete(),
            error(error) {
              if (isRenewed || error.data?.code !== "UNAUTHORIZED" || op.path.startsWith("auth.sign")) {
                return observer.error(error);
              }
              isRenewed = true;
              session.renew().then(
                () => (current = call()),
                () => observer.error(error),
              );
            },
          });
        }
        return () => current.unsubscribe();
      });
}
