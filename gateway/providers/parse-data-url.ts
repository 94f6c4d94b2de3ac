/** https://www.rfc-editor.org/rfc/rfc2397 */
export type DataUrl = {
  /** In lower case, without parameters. */
  mediaType: string;
  /** Null if the data is not base64. */
  base64: string | null;
  /** Returns the data as text. Null for invalid percent-encoding. */
  text(): string | null;
};

/** Null for a text that is not a data URL, or whose media type and parameters are too long. */
export function parseDataUrl(url: string): DataUrl | null {
  const comma = url.slice(0, headLengthMax).indexOf(",");
  if (!/^data:/i.test(url) || comma === -1) return null;
  const [mediaType = "", ...parameters] = url
    .slice("data:".length, comma)
    .toLowerCase()
    .split(";")
    .map((field) => field.trim());
  const data = url.slice(comma + 1);
  const isBase64 = parameters.at(-1) === "base64";
  return {
    mediaType: aliases.get(mediaType) ?? mediaType,
    base64: isBase64 ? data : null,
    text: () => (isBase64 ? Buffer.from(data, "base64").toString("utf8") : decode(data)),
  };
}

const headLengthMax = 256;

/** A missing type means plain text. `image/jpg` is wrong but common. */
const aliases = new Map([
  ["", "text/plain"],
  ["image/jpg", "image/jpeg"],
]);

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
