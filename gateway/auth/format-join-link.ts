/**
 * The URL of an invitation or a password reset. The token is in the fragment, which browsers do not send, so proxies
 * cannot log it.
 */
export function formatJoinLink(consoleUrl: string, token: string): string {
  return `${consoleUrl}/join#token=${token}`;
}
