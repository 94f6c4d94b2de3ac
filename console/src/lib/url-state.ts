import { goto } from "$app/navigation";
import { page } from "$app/state";

/**
 * What a list shows stands in the address, so that reloading, going back and sending a link to somebody all work.
 * A value that is empty, or null, leaves the address. A step (`isStep`) is one that "back" undoes.
 */
export function setUrlState(changes: Record<string, string | null>, { isStep = false } = {}): Promise<void> {
  const url = new URL(page.url.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
  }
  if (url.search === page.url.search) return Promise.resolve();
  return goto(url, { replace: !isStep, reset: false, state: isStep ? { isStep } : page.state });
}

/** A filter that somebody chose: the list begins at its first page again, and "back" undoes the choice. */
export function chooseFilter(changes: Record<string, string | null>): Promise<void> {
  return setUrlState({ ...changes, after: null }, { isStep: true });
}

export function urlState(name: string): string {
  return page.url.searchParams.get(name) ?? "";
}
