/**
 * A PowerShell string without expansion. Typographic quotes also end such a string. Doubling escapes each
 * quote.
 * https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_quoting_rules
 */
export function quote(text: string): string {
  return `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`;
}
