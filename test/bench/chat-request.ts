/** Returns the text of an HTTP request whose body is valid for both chat completions and messages. */
export function chatRequest({ host, path, key, model, stream }: ChatRequestOptions): string {
  const withContent = (content: string) =>
    JSON.stringify({
      model,
      messages: [
        {
          role: "system",
          content: "You are a travel guide. Answer in one paragraph, and say what it costs.",
        },
        { role: "user", content: "We have one evening in Bergen.\nWhat should we do?" },
        { role: "assistant", content: 'Take the "Fløibanen" up the hill before sunset.' },
        { role: "user", content },
      ],
      temperature: 0.7,
      max_tokens: 256,
      stream,
    });
  const padding = bodyBytes - Buffer.byteLength(withContent(""));
  const body = withContent(question.repeat(Math.ceil(padding / question.length)).slice(0, padding));
  // The headers resemble those of OpenAI's Node client.
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    "connection: keep-alive",
    "accept: application/json",
    "content-type: application/json",
    "user-agent: OpenAI/JS 6.9.1",
    "x-stainless-retry-count: 0",
    "x-stainless-lang: js",
    "x-stainless-runtime: node",
    `authorization: Bearer ${key}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join("\r\n")}\r\n\r\n${body}`;
}

type ChatRequestOptions = {
  host: string;
  path: string;
  key: string;
  model: string;
  stream: boolean;
};

const bodyBytes = 1_024;

export const chatPath = "/v1/chat/completions";

export const messagesPath = "/v1/messages";

const question = "And afterwards, where do people from there go to eat when it rains, which it will? ";
