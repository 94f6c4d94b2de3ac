import { bedrockForm } from "../helpers/native-upstreams/bedrock-upstream.ts";
import { openAiForm } from "../helpers/native-upstreams/openai-upstream.ts";
import { responsesForm } from "../helpers/native-upstreams/responses-upstream.ts";
import { signSigV4 } from "../helpers/native-upstreams/sigv4-signature.ts";
import { sealThought } from "../helpers/native-upstreams/thought-seal.ts";
import type { SeenRequest } from "../helpers/scripted-upstream.ts";

export const seal = sealThought("Hm.");

export function post(url: string, headers: Record<string, string>, body: object): SeenRequest {
  const all = { "content-type": "application/json", ...headers };
  return { method: "POST", url, headers: all, body: JSON.stringify(body) };
}

/** All bodies in this file contain the same tool call and result. */
export const openAiBody = {
  model: openAiForm.model,
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "And now?" },
    { role: "assistant", tool_calls: [{ id: "call_1", function: { name: "now", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "call_1", content: "12:30" },
  ],
};

export const responsesBody = {
  model: responsesForm.model,
  store: false,
  instructions: "Be brief.",
  tools: [{ type: "function", name: "now", parameters: { type: "object" }, strict: false }],
  input: [
    { role: "user", content: "And now?" },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: seal },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "now", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "12:30" },
  ],
};

export const claudeBody = {
  model: "claude",
  max_tokens: 4096,
  thinking: { type: "enabled", budget_tokens: 1024 },
  tools: [{ name: "now", input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: "And now?" },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: seal },
        { type: "tool_use", id: "toolu_1", name: "now", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "12:30" }] },
  ],
};

/** `claudeBody` with a thought bound to another conversation. */
export const boundClaudeBody = JSON.parse(
  JSON.stringify(claudeBody).replace(seal, sealThought("Hm.", "elsewhere")),
) as object;

export const geminiBody = {
  tools: [
    { functionDeclarations: [{ name: "now", description: "It.", parametersJsonSchema: { type: "object" } }] },
  ],
  contents: [
    { role: "user", parts: [{ text: "And now?" }] },
    { role: "model", parts: [{ functionCall: { name: "now", args: {} }, thoughtSignature: seal }] },
    { role: "user", parts: [{ functionResponse: { name: "now", response: { output: "12:30" } } }] },
  ],
  generationConfig: { thinkingConfig: { includeThoughts: true, thinkingLevel: "low" } },
};

export const converseBody = {
  inferenceConfig: { maxTokens: 4096 },
  additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 1024 } },
  toolConfig: { tools: [{ toolSpec: { name: "now", inputSchema: { json: { type: "object" } } } }] },
  messages: [
    { role: "user", content: [{ text: "And now?" }] },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "Hm.", signature: seal } } },
        { toolUse: { toolUseId: "t1", name: "now", input: {} } },
      ],
    },
    { role: "user", content: [{ toolResult: { toolUseId: "t1", content: [{ text: "12:30" }] } }] },
  ],
};

/** Adds an AWS signature if the request has no Authorization header. Only Bedrock checks the signature. */
export function signed(request: SeenRequest): SeenRequest {
  const [accessKeyId = "", secretKey = ""] = bedrockForm.credential.split(":");
  const identity = { accessKeyId, secretKey, region: "us-east-1", service: "bedrock" };
  const date = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const authorization = request.headers.authorization ?? "SignedHeaders=content-type;host;x-amz-date";
  const headers = { authorization, host: "127.0.0.1", "x-amz-date": date, ...request.headers };
  const unsigned = { ...request, headers };
  if (request.headers.authorization !== undefined) return unsigned;
  return { ...unsigned, headers: { ...headers, authorization: signSigV4(unsigned, identity) } };
}
