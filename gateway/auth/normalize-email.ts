/** One address is one person, however it is written. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
