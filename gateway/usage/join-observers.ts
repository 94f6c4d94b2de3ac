import type { RequestObserver } from "./request-observer.ts";

/** Several observers as one; null where there is none. */
export function joinObservers(observers: readonly (RequestObserver | null)[]): RequestObserver | null {
  const present = observers.filter((observer) => observer !== null);
  const [only = null] = present;
  if (present.length < 2) return only;
  return {
    ended: (request) => present.forEach((observer) => observer.ended(request)),
    refused: (...refused) => present.forEach((observer) => observer.refused(...refused)),
    answered: (...answered) => present.forEach((observer) => observer.answered(...answered)),
    upstreamRefused: (...refused) => present.forEach((observer) => observer.upstreamRefused(...refused)),
  };
}
