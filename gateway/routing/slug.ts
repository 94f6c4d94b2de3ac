/** Splits a slug, `<provider>/<model_name>`, at the first slash. Null for any other text. */
export function parseSlug(text: string): { providerName: string; modelName: string } | null {
  if (!slugPattern.test(text)) return null;
  const slash = text.indexOf("/");
  return { providerName: text.slice(0, slash), modelName: text.slice(slash + 1) };
}

export function isBareName(text: string): boolean {
  return !text.includes("/") && parseSlug(`provider/${text}`) !== null;
}

export const providerNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}\/[\w.:@+~/-]{1,191}$/;
