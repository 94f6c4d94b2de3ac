/** The console's page of a model. Slugs have slashes of their own. */
export function modelAddress(slug: string): string {
  return `/models/${slug.split("/").map(encodeURIComponent).join("/")}`;
}
