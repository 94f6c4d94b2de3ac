/**
 * JSON that a message carries as text; undefined for what is none, and for what is nested so deeply that it can be read but
 * not written again. Google's own limit for such values is near.
 */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isNestedDeeper(value, depthMax) ? undefined : value;
  } catch {
    return undefined;
  }
}

function isNestedDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isNestedDeeper(member, depth - 1));
}

const depthMax = 64;
