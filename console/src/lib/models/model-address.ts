/** The console's page of a model. Slugs have slashes of their own. */
export function modelAddress(slug: string): string {
  return `/models/${slug.split("/").map(encodeURIComponent).join("/")}`;
}

/** The page that makes a key, with these models chosen. Of more than an address can hold, none is. */
export function newKeyAddress(slugs: string[]): string {
  const models = slugs.join(",");
  return models.length > chosenLengthMax ? "/keys/new" : `/keys/new?${new URLSearchParams({ models })}`;
}

const chosenLengthMax = 4_000;
