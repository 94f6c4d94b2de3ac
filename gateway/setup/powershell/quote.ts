/**
 * A PowerShell string without expansion. Typographic quotes end such a string too, and each is escaped by doubling:
 * https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_quoting_rules
 */
export function quote(text: string): string {
  return `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`;
}
