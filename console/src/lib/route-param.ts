import { page } from "$app/state";

/**
 * A parameter of this page's URL. It stays the same while the page is left: `page.params` already belongs to the next
 * page then.
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
