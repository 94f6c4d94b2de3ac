import { page } from "$app/state";

/**
 * A parameter of this page's URL. The value stays the same while the user leaves the page, when `page.params`
 * already has the next page's parameters.
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
