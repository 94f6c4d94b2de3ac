/** Whether a browser is going somewhere: only then is HTML asked for by name. Programs that mistype a URL do not. */
export function wantsPage(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes("text/html");
}
