import type { TestGateway } from "./test-gateway.ts";

/** Opens a stream and waits for its first bytes; `rest` gives everything that came, once it has ended. */
export async function openStream(
  gateway: Pick<TestGateway, "url">,
  keyValue: string,
  body: object,
): Promise<{ rest: Promise<string>; status: number }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${keyValue}`, "content-type": "application/json" },
    body: JSON.stringify({ ...body, stream: true }),
  });
  const chunks = response.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  if (chunks === undefined) throw new Error("The response has no body");
  const first = await chunks.next();
  const readRest = async () => {
    let text = first.value ?? "";
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) text += next.value;
    return text;
  };
  return { rest: readRest(), status: response.status };
}
