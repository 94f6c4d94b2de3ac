/** The page of a model. Slugs contain slashes. */
export function modelAddress(slug: string): string {
  return `/models/${slug.split("/").map(encodeURIComponent).join("/")}`;
}

/** The page for a new key with these models. Omits them all if they exceed a URL. */
export function newKeyAddress(slugs: string[]): string {
  const models = slugs.join(",");
  return models.length > chosenLengthMax ? "/keys/new" : `/keys/new?${new URLSearchParams({ models })}`;
}

const chosenLengthMax = 4_000;
