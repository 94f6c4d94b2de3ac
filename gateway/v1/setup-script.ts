import type { IncomingMessage, ServerResponse } from "node:http";
import { buildScript } from "../setup/build-script.ts";
import { parseScriptAddress } from "../setup/script-address.ts";
import { SetupInputError } from "../setup/setup-input.ts";

/**
 * Serves setup scripts without authentication, because they contain no secrets.
 * @param publicUrl null uses the request's Host header
 */
export function setupScript(publicUrl: string | null) {
  // Tools of one team request the same few scripts.
  const scripts = new Map<string, Answer>();
  return (request: IncomingMessage, response: ServerResponse): void => {
    const key = `${request.method} ${request.headers.host} ${request.url}`;
    const { status, text } = scripts.get(key) ?? remember(key, answer(request, publicUrl));
    const head = {
      "content-type": "text/plain; charset=utf-8",
      "content-length": Buffer.byteLength(text),
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...(status === 405 && { allow: "GET, HEAD" }),
    };
    response.writeHead(status, head).end(request.method === "HEAD" ? undefined : text);
  };

  function remember(key: string, built: Answer): Answer {
    if (built.status !== 200 || key.length > keyCharactersMax) return built;
    scripts.set(key, built);
    const [oldest] = scripts.keys();
    if (scripts.size > scriptsMax && oldest !== undefined) scripts.delete(oldest);
    return built;
  }
}

function answer({ method, url = "", headers }: IncomingMessage, publicUrl: string | null): Answer {
  if (method !== "GET" && method !== "HEAD")
    return { status: 405, text: "The method POST is not allowed for setup scripts. Use GET.\n" };
  try {
    // Express removes the mount path `/setup` from `url`.
    const request = parseScriptAddress(url.replace(/^\//, ""));
    if (request === null)
      return {
        status: 404,
        text: "The setup script does not exist. Copy the command from the console again.\n",
      };
    return { status: 200, text: buildScript(request, publicUrl ?? `http://${headers.host ?? ""}`) };
  } catch (error) {
    if (!(error instanceof SetupInputError)) throw error;
    return { status: 400, text: `${error.message}\n` };
  }
}

/** A script has up to 60 KB. */
const scriptsMax = 50;
/** Excludes long Host headers. */
const keyCharactersMax = 4_500;

type Answer = { status: number; text: string };
