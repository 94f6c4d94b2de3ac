export const keyQuotes: Record<string, (key: string) => string> = {
  "as it is": (key) => key,
  "within a word": (key) => `x${key}y`,
  "in a header": (key) => `Authorization: Bearer ${key}`,
  "in a URL": (key) => `https://example.com/v1?key=${encodeURIComponent(key)}&x=1`,
  "in capital letters": (key) => key.toUpperCase(),
  "in small letters": (key) => key.toLowerCase(),
  "its beginning": (key) => `${key.slice(0, 12)}***`,
  "its end": (key) => `***${key.slice(-12)}`,
  "its middle": (key) => `***${key.slice(6, 18)}***`,
  "both ends": (key) => `${key.slice(0, 9)}***${key.slice(-9)}`,
  "eight characters": (key) => `starts with '${key.slice(0, 8)}'`,
  "several times": (key) => [key, key, key].join(", "),
  "behind 4,090 characters": (key) => "a ".repeat(2_045) + key,
  "behind 8,180 characters": (key) => "a ".repeat(4_090) + key,
  "behind 20,000 characters": (key) => "a ".repeat(10_000) + key,
  "with spaces": (key) => [...key].join(" "),
  "with line breaks": (key) => (key.match(/.{1,5}/g) ?? []).join("\n"),
  "with zero-width spaces": (key) => [...key].join("\u200b"),
  "JSON, slashes": (key) => key.replaceAll("/", "\\/"),
  "JSON, signs": (key) => key.replaceAll(/\W/g, (sign) => unicode(sign)),
  "JSON, signs, capital digits": (key) => key.replaceAll(/\W/g, (sign) => unicode(sign).toUpperCase()),
  "JSON, every character": (key) => [...key].map(unicode).join(""),
  "JSON in JSON": (key) => JSON.stringify(key.replaceAll(/\W/g, unicode)).slice(1, -1),
  "JSON three times": (key) => `${key.replaceAll(/\W/g, (sign) => `\\\\\\\\${unicode(sign)}`)}`,
  "JavaScript, \\x": (key) => [...key].map((sign) => `\\x${hexOf(sign)}`).join(""),
  "JavaScript, \\u{}": (key) => [...key].map((sign) => `\\u{${hexOf(sign)}}`).join(""),
  "URL-encoded": (key) => encodeURIComponent(key),
  "URL-encoded, small digits": (key) => key.replaceAll(/\W/g, (sign) => `%${hexOf(sign)}`),
  "URL-encoded, every character": (key) => [...key].map((sign) => `%${hexOf(sign)}`).join(""),
  "URL-encoded twice": (key) => encodeURIComponent(encodeURIComponent(key)),
  "URL-encoded three times": (key) => encodeURIComponent(encodeURIComponent(encodeURIComponent(key))),
  "HTML, decimal": (key) => key.replaceAll(/\W/g, (sign) => `&#${sign.charCodeAt(0)};`),
  "HTML, hexadecimal": (key) => key.replaceAll(/\W/g, (sign) => `&#x${hexOf(sign)};`),
  "HTML, many zeros": (key) => key.replaceAll(/\W/g, (sign) => `&#X0000${hexOf(sign)};`),
  "HTML, every character": (key) => [...key].map((sign) => `&#${sign.charCodeAt(0)};`).join(""),
  "HTML, named": (key) => key.replaceAll("/", "&sol;").replaceAll("+", "&plus;").replaceAll("=", "&equals;"),
  "HTML twice": (key) => key.replaceAll(/\W/g, (sign) => `&amp;#${sign.charCodeAt(0)};`),
  "HTML in JSON": (key) => key.replaceAll(/\W/g, (sign) => `\\u0026#${sign.charCodeAt(0)};`),
  "HTML in a URL": (key) => encodeURIComponent(key.replaceAll(/\W/g, (sign) => `&#${sign.charCodeAt(0)};`)),
  base64,
  "base64 of a header": (key) => base64(`Bearer ${key}`),
  "base64 of a user's": (key) => base64(`user:${key}@`),
  "base64 behind one byte": (key) => base64(`x${key}`),
  "base64 in a word": (key) => `x${base64(key)}`,
  "base64, its beginning": (key) => `${base64(key).slice(0, 14)}***`,
  "base64, in lines": (key) => (base64(key).match(/.{1,9}/g) ?? []).join("\r\n"),
  "base64, URL-encoded": (key) => encodeURIComponent(base64(key)),
  "base64, slashes escaped": (key) => base64(`??>${key}`).replaceAll("/", "\\/"),
  base64url: (key) => Buffer.from(`??>${key}`).toString("base64url"),
  hexadecimals: (key) => Buffer.from(key).toString("hex"),
  "hexadecimals, capital": (key) => Buffer.from(key).toString("hex").toUpperCase(),
  "hexadecimals, off by one": (key) => `0${Buffer.from(key).toString("hex")}`,
  "hexadecimals with spaces": (key) => (Buffer.from(key).toString("hex").match(/../g) ?? []).join(" "),
};

function hexOf(sign: string): string {
  return sign.charCodeAt(0).toString(16);
}

function unicode(sign: string): string {
  return `\\u00${hexOf(sign)}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
