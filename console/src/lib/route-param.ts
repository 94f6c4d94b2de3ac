import { page } from "$app/state";

/**
 * A parameter of this page's URL. Unlike `page.params`, the value does not change while the user leaves the
 * page.
 */
export function routeParam(name: "id" | "slug"): { readonly current: string } {
  const own = page.route.id;
  let last = "";
  return {
    get current() {
      if (page.route.id === own) last = page.params[name] ?? "";
      return last;
    },
  };
}
