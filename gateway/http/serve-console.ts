import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import sirv from "sirv";
import { wantsPage } from "./browser-request.ts";

type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** Serves the console's files, and its page for other URLs that a browser opens. Other requests fall through. */
export function serveConsole(folder: string): Handler {
  if (!existsSync(`${folder}/index.html`)) return notBuilt;
  const linkOf = readPreloads(`${folder}/.preloads.json`);
  const files = sirv(folder, {
    gzip: true,
    brotli: true,
    etag: true,
    setHeaders(response, pathname) {
      for (const [name, value] of securityHeaders) response.setHeader(name, value);
      // The names of these files contain a hash of the content.
      const isForEver = pathname.startsWith("/_app/immutable/");
      response.setHeader("cache-control", isForEver ? "public, max-age=31536000, immutable" : "no-cache");
    },
  });
  return (request, response, next) => {
    const isApi = /^\/(v1|trpc|graphql)(\/|$)/.test(request.url ?? "");
    if (isApi || (request.method !== "GET" && request.method !== "HEAD")) return next();
    const isPage = wantsPage(request.headers.accept);
    const link = isPage ? linkOf(request.url ?? "/") : undefined;
    if (link) response.setHeader("link", link);
    files(request, response, () => {
      if (!isPage) return next();
      request.url = "/";
      files(request, response, next);
    });
  };
}

/** Returns a function that maps a page's URL to a `Link` header, which preloads the files of the page. */
function readPreloads(file: string): (url: string) => string | undefined {
  if (!existsSync(file)) return () => undefined;
  const preloads = JSON.parse(readFileSync(file, "utf8")) as { pattern: string; link: string }[];
  const pages = preloads.map(({ pattern, link }) => ({ pattern: new RegExp(pattern), link }));
  return (url) => {
    const [path = ""] = url.split("?");
    return pages.find(({ pattern }) => pattern.test(path))?.link;
  };
}

const notBuilt: Handler = (request, response, next) => {
  if (!wantsPage(request.headers.accept)) return next();
  const text = "The console is not built. Run `npm run build`, then start the gateway again.\n";
  response.writeHead(503, { "content-type": "text/plain; charset=utf-8" }).end(text);
};

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Components position elements with style attributes, which cannot run code.
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const securityHeaders = [
  ["content-security-policy", contentSecurityPolicy],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
  // The `Referer` header would reveal the console's URLs to linked sites.
  ["referrer-policy", "no-referrer"],
  ["cross-origin-opener-policy", "same-origin"],
  ["permissions-policy", "camera=(), microphone=(), geolocation=()"],
] as const;
