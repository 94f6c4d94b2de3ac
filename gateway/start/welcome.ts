import type { RunningGateway } from "./start-gateway.ts";

/** The text after the start: the address, and a newcomer's next steps. */
export async function welcome({ publicUrl, services }: RunningGateway): Promise<string> {
  const lines = [`Model Gateway is listening at ${publicUrl}`];
  if (services.firstKeyValue !== null) {
    lines.push(
      "",
      `Your first API key, connected to demo/echo, shown this once: ${services.firstKeyValue}`,
      "Try it:",
      "",
      curl(
        `${publicUrl}/v1/chat/completions`,
        { authorization: `Bearer ${services.firstKeyValue}` },
        firstRequest,
      ),
    );
  }
  if (!(await services.accounts.isSetUp())) {
    lines.push(
      "",
      "There is no administrator yet. By this link, which works once, you become the first:",
      "",
      `${publicUrl}/set-up?token=${services.accounts.setUpToken}`,
    );
  }
  const keys = (await services.providers.environmentKeys()).filter(({ hasProvider }) => !hasProvider);
  if (keys.length > 0) {
    const names = keys.map(({ variable }) => variable).join(", ");
    lines.push(
      "",
      `The environment has keys for providers that are not here yet: ${names}.`,
      "In the console, Providers offers to import them.",
    );
  }
  return `${lines.join("\n")}\n\n`;
}

const firstRequest = { model: "demo/echo", messages: [{ role: "user", content: "Hello, gateway!" }] };

function curl(url: string, headers: Record<string, string>, body: object): string {
  const all = { ...headers, "content-type": "application/json" };
  const options = Object.entries(all).map(([name, value]) => `-H '${name}: ${value}'`);
  return `curl ${url} ${options.join(" ")} -d '${JSON.stringify(body)}'`;
}
