import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { Role } from "../../db/entities/user.ts";
import { linkToken } from "./link-token.ts";
import { createConsoleClient, type TestGateway } from "./test-gateway.ts";

export async function callProcedure(
  gateway: Pick<TestGateway, "url">,
  path: string,
  { type = "mutation", input, accessToken, headers = {}, from = "127.0.0.1" }: CallOptions = {},
): Promise<ConsoleAnswer> {
  const isQuery = type === "query";
  const query = isQuery && input !== undefined ? `?input=${encodeURIComponent(JSON.stringify(input))}` : "";
  const sent = request(`${gateway.url}/trpc/${path}${query}`, {
    method: isQuery ? "GET" : "POST",
    localAddress: from,
    headers: {
      ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }),
      ...(!isQuery && { "content-type": "application/json" }),
      ...headers,
    },
  });
  sent.end(isQuery || input === undefined ? undefined : JSON.stringify(input));
  return new Promise((resolve, reject) => {
    sent.on("error", reject);
    sent.on("response", async (response) => {
      const body = await text(response);
      const parsed = JSON.parse(body) as { result?: { data?: unknown }; error?: ConsoleError };
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: body,
        data: parsed.result?.data,
        code: parsed.error?.data.code,
        error: parsed.error,
      });
    });
  });
}

/** The raw response of `/trpc`, including parts that the tRPC client hides. */
export type ConsoleAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** Undefined for an error. */
  data: unknown;
  /** Such as `NOT_FOUND`. Undefined for a success. */
  code: string | undefined;
  error: ConsoleError | undefined;
};

type ConsoleError = {
  message: string;
  code: number;
  data: {
    code: string;
    httpStatus: number;
    path: string;
    param: string | null;
    retryAfterSeconds: number | null;
    currentRevision: number | null;
    requestId: string | null;
  };
};

type CallOptions = {
  type?: "query" | "mutation";
  input?: unknown;
  accessToken?: string | undefined;
  headers?: Record<string, string>;
  /** The client's loopback address. */
  from?: string;
};

export type Someone = { id: string; email: string; password: string; accessToken: string };

export async function addPerson(
  { url, admin }: Pick<TestGateway, "url" | "admin">,
  email: string,
  role: Role = "member",
): Promise<Someone & { console: ReturnType<typeof createConsoleClient> }> {
  const password = `password of ${email}`;
  const { link } = await admin.users.invite.mutate({ name: email, email, role });
  const token = linkToken(link);
  const { auth } = createConsoleClient(url);
  const { accessToken, user } = await auth.join.mutate({ token, name: email, password });
  return { id: user.id, email, password, accessToken, console: createConsoleClient(url, accessToken) };
}
