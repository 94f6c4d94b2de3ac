import { goto } from "$app/navigation";
import { page } from "$app/state";
import { containsSecret } from "./secret-text.ts";

/**
 * Sets URL parameters. An empty value or null deletes the parameter, and so does a secret. With `isStep`, going back
 * undoes the change.
 */
export function setUrlState(changes: Record<string, string | null>, { isStep = false } = {}): Promise<void> {
  const url = new URL(page.url.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value && !containsSecret(value)) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (url.search === page.url.search) return Promise.resolve();
  return goto(url, { replace: !isStep, reset: false, state: isStep ? { isStep } : page.state });
}

/** Applies a filter and returns to the first page. Going back undoes both. */
export function chooseFilter(changes: Record<string, string | null>): Promise<void> {
  return setUrlState({ ...changes, after: null }, { isStep: true });
}

export function urlState(name: string): string {
  return page.url.searchParams.get(name) ?? "";
}
