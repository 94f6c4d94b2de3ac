/** Returns the names of the secrets that the text contains, raw or encoded as JSON, URL, hex or base64. */
export function findLeaks(text: string, secrets: Record<string, string>): string[] {
  const lowerCase = text.toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const isThere =
      formsOf(secret).some((form) => text.includes(form)) ||
      lowerCase.includes(Buffer.from(secret).toString("hex")) ||
      lowerCase.includes(Buffer.from(secret, "utf16le").toString("hex"));
    return isThere ? [name] : [];
  });
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replaceAll(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  const base64 = [0, 1, 2].flatMap((offset) => base64Forms(secret, offset));
  // JSON within JSON is escaped twice.
  return [secret, json, ascii, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret), ...base64];
}

/** Returns the secret's base64 as if `offset` bytes preceded it, without the characters that adjacent bytes affect. */
function base64Forms(secret: string, offset: number): string[] {
  const bytes = Buffer.from(secret);
  const skipped = (3 - offset) % 3;
  const whole = bytes.subarray(skipped, skipped + Math.floor((bytes.length - skipped) / 3) * 3);
  return [whole.toString("base64"), whole.toString("base64url")];
}
