/** Whether it is made of the characters that names of headers are made of: https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.2 */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+\-.^_`|~\da-z]+$/i.test(text);
}
