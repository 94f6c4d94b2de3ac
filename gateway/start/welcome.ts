import type { RunningGateway } from "./start-gateway.ts";

export async function welcome({ publicUrl, services }: RunningGateway): Promise<string> {
  const lines = [`Model Gateway is listening at ${publicUrl}`];
  if (services.firstKeyValue !== null) {
    lines.push(
      "",
      `Your first API key, connected to demo/echo, shown only once: ${services.firstKeyValue}`,
      "Try it:",
      "",
      `curl ${publicUrl}/v1/chat/completions -H 'authorization: Bearer ${services.firstKeyValue}' -H 'content-type: application/json' -d '${JSON.stringify(firstRequest)}'`,
    );
  }
  if (!(await services.accounts.isSetUp())) {
    lines.push(
      "",
      "Create the administrator account (one-time link):",
      "",
      `${publicUrl}/set-up?token=${services.accounts.setUpToken}`,
    );
  }
  const keys = (await services.providers.environmentKeys()).filter(({ hasProvider }) => !hasProvider);
  if (keys.length > 0) {
    const names = keys.map(({ variable }) => variable).join(", ");
    lines.push(
      "",
      `The environment contains keys for new providers: ${names}.`,
      "Import them on the Providers page of the console.",
    );
  }
  return `${lines.join("\n")}\n\n`;
}

const firstRequest = { model: "demo/echo", messages: [{ role: "user", content: "Hello, gateway!" }] };
