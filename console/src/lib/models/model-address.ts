/** The URL of a model's page. The slashes of a slug stay unescaped. */
export function modelAddress(slug: string): string {
  return `/models/${slug.split("/").map(encodeURIComponent).join("/")}`;
}

/** The URL of the form for a new key with these models. Omits all models if the URL would be too long. */
export function newKeyAddress(slugs: string[]): string {
  const models = slugs.join(",");
  return models.length > chosenLengthMax ? "/keys/new" : `/keys/new?${new URLSearchParams({ models })}`;
}

const chosenLengthMax = 4_000;
