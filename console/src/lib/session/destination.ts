/**
 * Returns the path that a person sees after the sign-in. It is within the console, so that a link cannot redirect
 * elsewhere.
 */
export function destinationOf(to: string | null, page: Pick<URL, "href" | "origin">): string {
  const target = URL.parse(to ?? "/", page.href);
  // Browsers would read the text after two leading slashes as a host.
  const isHere = target?.origin === page.origin && !target.pathname.startsWith("//");
  return isHere ? target.pathname + target.search : "/";
}
