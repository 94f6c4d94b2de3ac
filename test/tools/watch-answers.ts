import { createServer, request as forward } from "node:http";
import { connect } from "node:net";
import { pipeline } from "node:stream";
import type { ExecutionContext } from "ava";
import { listen } from "../helpers/listen.ts";
import { loadOpenAiSchemas, type OpenAiSchemas } from "../helpers/openai-schemas.ts";

/**
 * Starts a proxy between a tool and the gateway. The proxy validates successful HTTP responses of OpenAI's
 * APIs, if OpenAI's schemas are available.
 */
export async function watchAnswers(
  t: Pick<ExecutionContext, "teardown">,
  gatewayUrl: string,
): Promise<{ url: string; faults: string[]; upgrades: string[]; relayed: string[] }> {
  const schemas = loadOpenAiSchemas();
  const faults: string[] = [];
  const upgrades: string[] = [];
  const relayed: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, url = "", headers } = incoming;
    const call = forward(`${gatewayUrl}${url}`, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        relayed.push(chunk.toString("utf8"));
      });
      answer.on("error", () => outgoing.destroy());
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        if (schemas && answer.statusCode === 200) faults.push(...findFaults(schemas, url, text));
      });
      answer.pipe(outgoing);
    });
    call.on("error", () => outgoing.destroy());
    outgoing.on("close", () => call.destroy());
    incoming.pipe(call);
  });
  server.on("upgrade", ({ method, url = "", rawHeaders }, socket, head) => {
    upgrades.push(url);
    const { hostname, port } = new URL(gatewayUrl);
    const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    const call = connect(Number(port), hostname, () => {
      call.write(`${method} ${url} HTTP/1.1\r\n${lines.join("")}\r\n`);
      call.write(head);
      pipeline(socket, call, socket, () => {});
    });
    call.on("error", () => socket.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(t, server)}`, faults, upgrades, relayed };
}

function findFaults(schemas: OpenAiSchemas, url: string, text: string): string[] {
  const isChat = url.includes("/chat/completions");
  if (!isChat && !url.includes("/responses")) return [];
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, line = ""]) => line);
  if (data.length === 0) {
    return isChat ? schemas.faultsOfCompletion(JSON.parse(text)) : schemas.faultsOfAnswer(JSON.parse(text));
  }
  return data
    .filter((line) => line !== "[DONE]")
    .flatMap((line) => {
      const value: unknown = JSON.parse(line);
      return (isChat ? schemas.faultsOfChunk(value) : schemas.faultsOfEvent(value)).map(
        (fault) => `${fault} in ${line}`,
      );
    });
}
