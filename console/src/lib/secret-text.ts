/** Whether a text contains a key value or an access token, whole or in part. Such a text must not get into a URL. */
export function containsSecret(text: string): boolean {
  return /(?:sk|at)-gateway-/i.test(text);
}

/** The last four characters of the key value in the text. Null without a whole or masked value. */
export function keyEnding(text: string): string | null {
  const [, ending = null] =
    /sk-gateway-(?:[0-9A-Za-z]{45}|…|\.{3}|[*•]+)([0-9A-Za-z]{4})(?![0-9A-Za-z])/.exec(text) ?? [];
  return ending;
}
