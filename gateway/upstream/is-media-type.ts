/** @param header the value of `content-type` */
export function isMediaType(header: string | string[] | undefined, type: string): boolean {
  return String(header).split(";", 1)[0]?.trim().toLowerCase() === type;
}
