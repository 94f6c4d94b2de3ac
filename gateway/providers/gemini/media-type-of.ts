/** The media type that a web address tells by its ending; null when it does not. */
export function mediaTypeOf(url: string): string | null {
  const path = url.replace(/[?#].*$/s, "");
  const ending = /\.(\w{2,5})$/.exec(path)?.[1]?.toLowerCase();
  return (ending !== undefined && types.get(ending)) || null;
}

/** Those that Gemini takes. https://ai.google.dev/gemini-api/docs/file-input-methods#supported-content-types */
const types = new Map([
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["webp", "image/webp"],
  ["heic", "image/heic"],
  ["heif", "image/heif"],
  ["bmp", "image/bmp"],
  ["pdf", "application/pdf"],
  ["json", "application/json"],
  ["txt", "text/plain"],
  ["html", "text/html"],
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["xml", "text/xml"],
  ["md", "text/markdown"],
  ["mp4", "video/mp4"],
  ["mpeg", "video/mpeg"],
  ["mpg", "video/mpg"],
  ["mov", "video/mov"],
  ["avi", "video/avi"],
  ["flv", "video/x-flv"],
  ["webm", "video/webm"],
  ["wmv", "video/wmv"],
  ["3gp", "video/3gpp"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mp3"],
  ["aiff", "audio/aiff"],
  ["aac", "audio/aac"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
]);
