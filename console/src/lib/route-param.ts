import { page } from "$app/state";

/**
 * A part of this page's address. While the page is being left it stays as it was: `page.params` is the next page's already then,
 * and what asks for things by it would ask for nothing.
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
