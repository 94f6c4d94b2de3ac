/**
 * A string of PowerShell in which nothing is expanded. The typographic quotes end such a string too, and each is escaped by
 * being doubled: https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_quoting_rules
 */
export function quote(text: string): string {
  return `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`;
}
