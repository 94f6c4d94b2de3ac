import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import type { ExecutionContext } from "ava";
import { listen } from "../../helpers/listen.ts";

type Input = Record<string, unknown>;
/** A body with status 200, an error with its status, or no response. */
type Answer = object | { status: number; error: string } | "hang";
type Answers = Record<string, (input: Input, attempt: number) => Answer>;

type FakeAws = {
  url: string;
  requests: { operation: string; input: Input; isSigned: boolean }[];
  operations(): string[];
};

/**
 * Starts a fake AWS service with the JSON protocol: `x-amz-target` ends with the operation name, and `__type`
 * names the error.
 */
export async function createFakeAws(
  t: Pick<ExecutionContext, "teardown">,
  answers: Answers,
): Promise<FakeAws> {
  const requests: FakeAws["requests"] = [];
  const server = createServer(async (request, response) => {
    const input = (await json(request)) as Input;
    const operation = String(request.headers["x-amz-target"]).split(".").at(-1) ?? "";
    const isSigned = String(request.headers.authorization).startsWith("AWS4-HMAC-SHA256 ");
    const attempt = requests.filter((each) => each.operation === operation).length + 1;
    requests.push({ operation, input, isSigned });
    const answer = answers[operation]?.(input, attempt) ?? {
      status: 400,
      error: "UnknownOperationException",
    };
    if (answer === "hang") return;
    const isError = "error" in answer && "status" in answer;
    response.writeHead(isError ? answer.status : 200, { "content-type": "application/x-amz-json-1.1" });
    response.end(JSON.stringify(isError ? { __type: answer.error, message: answer.error } : answer));
  });
  return {
    url: `http://127.0.0.1:${await listen(t, server)}`,
    requests,
    operations: () => requests.map(({ operation }) => operation),
  };
}

export const fakeCredentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "an example" };

export function reaching({ url }: FakeAws): Record<string, string> {
  const { accessKeyId, secretAccessKey } = fakeCredentials;
  return { AWS_ENDPOINT_URL: url, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
}

export const goodRelease: Answers = {
  DescribeSecret: () => ({ VersionIdsToStages: {} }),
  PutSecretValue: () => ({}),
  RunTask: () => ({ tasks: [{ taskArn: "arn:aws:ecs:eu-central-1:111122223333:task/gateway-prod/abc" }] }),
  DescribeTasks: () => ({ tasks: [stoppedTask()] }),
  GetLogEvents: () => ({ events: [{ message: "Ran 0001." }] }),
  StopTask: () => ({}),
};

type Ended = { exitCode?: number; reason?: string };

export function stoppedTask(users: Ended = { exitCode: 0 }, migrate: Ended = { exitCode: 0 }): object {
  const containers = [
    { name: "database-users", ...users },
    { name: "migrate", ...migrate },
  ];
  return { lastStatus: "STOPPED", stoppedReason: "Essential container in task exited", containers };
}
