import type { TestGateway } from "./test-gateway.ts";

export type ShownResponse = {
  id: string;
  status: string;
  store: boolean;
  previous_response_id: string | null;
  output: { id: string; type: string; call_id?: string; encrypted_content?: string }[];
};

export function responsesClient({ url }: Pick<TestGateway, "url">, keyValue: string) {
  const headers = { authorization: `Bearer ${keyValue}`, "content-type": "application/json" };
  const call = async (method: string, path: string, body?: object) => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${url}/v1/responses${path}`, init);
    return { status: answer.status, text: await answer.text() };
  };
  return {
    call,
    async create(body: { stream?: boolean; [name: string]: unknown }): Promise<ShownResponse> {
      const { status, text } = await call("POST", "", body);
      if (status !== 200) throw new Error(`${status} ${text}`);
      if (body.stream !== true) return JSON.parse(text) as ShownResponse;
      const data = text.trimEnd().split("\n").at(-1)?.slice("data: ".length) ?? "";
      return (JSON.parse(data) as { response: ShownResponse }).response;
    },
  };
}

export const weatherTool = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: { city: { type: "string" } } },
};

export function weatherResultOf({ output }: ShownResponse): object {
  const call = output.find(({ type }) => type === "function_call");
  return { type: "function_call_output", call_id: call?.call_id, output: "22 degrees" };
}
