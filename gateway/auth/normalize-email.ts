/** One address is one user, in any spelling. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
