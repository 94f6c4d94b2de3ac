export const languages = ["curl", "python", "node"] as const;
export type Language = (typeof languages)[number];

type SnippetInput = {
  baseUrl: string;
  model: string;
  /** The key's value. Without it, snippets read the variable `GATEWAY_API_KEY`. */
  value: string | null;
};

export const writeSnippet: Record<Language, (input: SnippetInput) => string> = {
  curl: ({ baseUrl, model, value }) => {
    const header = `Authorization: Bearer ${value ?? "$GATEWAY_API_KEY"}`;
    const body = JSON.stringify({ model, messages: [message] });
    return [
      `curl ${inShell(`${baseUrl}/v1/chat/completions`)} \\`,
      // Double quotes let the shell expand the variable. A key value needs no escaping.
      `  -H "${header}" \\`,
      `  -H "Content-Type: application/json" \\`,
      `  -d ${inShell(body)}`,
    ].join("\n");
  },
  python: ({ baseUrl, model, value }) =>
    `# pip install openai
${value === null ? "import os\n" : ""}from openai import OpenAI

client = OpenAI(
    base_url=${JSON.stringify(`${baseUrl}/v1`)},
    api_key=${value === null ? 'os.environ["GATEWAY_API_KEY"]' : JSON.stringify(value)},
)

completion = client.chat.completions.create(
    model=${JSON.stringify(model)},
    messages=[{"role": "user", "content": "${message.content}"}],
)
print(completion.choices[0].message.content)`,
  node: ({ baseUrl, model, value }) =>
    `// npm install openai, then save this as first-request.mjs
import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${JSON.stringify(`${baseUrl}/v1`)},
  apiKey: ${value === null ? "process.env.GATEWAY_API_KEY" : JSON.stringify(value)},
});

const completion = await client.chat.completions.create({
  model: ${JSON.stringify(model)},
  messages: [{ role: "user", content: "${message.content}" }],
});
console.log(completion.choices[0].message.content);`,
};

const message = { role: "user", content: "Hello, gateway!" };

function inShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
