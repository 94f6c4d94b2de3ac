import { page } from "$app/state";

/**
 * A parameter of this page's URL, unchanged while the page is left. `page.params` already has the next page's
 * parameters then.
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
