import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type CloudWatchLogsClient, GetLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import {
  DescribeTasksCommand,
  type ECSClient,
  RunTaskCommand,
  StopTaskCommand,
  type Task,
} from "@aws-sdk/client-ecs";

export type MigrationTask = {
  cluster: string;
  taskDefinition: string;
  subnets: string[];
  securityGroup: string;
  logGroup: string;
};

type Clients = { ecs: ECSClient; logs: CloudWatchLogsClient };

type Options = { print(line: string): void; pollIntervalMs?: number; timeoutMs?: number };

/**
 * Runs the migration as a Fargate task and waits for its end. Throws an error with the last log lines if the
 * migration fails or exceeds `timeoutMs`.
 */
export async function runMigration(
  { ecs, logs }: Clients,
  migration: MigrationTask,
  { print, pollIntervalMs = 3_000, timeoutMs = 20 * 60_000 }: Options,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  const taskArn = await start(ecs, migration);
  print(`The migration is running as ${taskArn}.`);

  let ended: Task | undefined;
  try {
    ended = await end(ecs, { cluster: migration.cluster, taskArn, pollIntervalMs, deadline });
  } catch (error) {
    await stop(ecs, migration.cluster, taskArn);
    throw error;
  }
  if (!ended) {
    await stop(ecs, migration.cluster, taskArn);
    throw await failure({ logs, migration, taskArn, reason: `did not end within ${timeoutMs / 1_000} s` });
  }
  const failed = ended.containers?.find(({ exitCode }) => exitCode !== undefined && exitCode !== 0);
  const unstarted = ended.containers?.filter(({ exitCode }) => exitCode === undefined) ?? [];
  if (failed) {
    const reason = `failed: the container ${failed.name} exited with code ${failed.exitCode}`;
    throw await failure({ logs, migration, taskArn, reason, container: failed.name });
  }
  if (unstarted.length > 0 || !ended.containers?.length) {
    const because = unstarted.find(({ reason }) => reason)?.reason ?? ended.stoppedReason;
    throw await failure({
      logs,
      migration,
      taskArn,
      reason: `did not start: ${because ?? "ECS gave no reason"}`,
    });
  }
  for (const line of await lastLines(logs, { migration, taskArn, container: "migrate", count: 5 }))
    print(line);
}

async function start(ecs: ECSClient, migration: MigrationTask): Promise<string> {
  const { subnets, securityGroup, cluster, taskDefinition } = migration;
  const awsvpcConfiguration = {
    subnets,
    securityGroups: [securityGroup],
    assignPublicIp: "DISABLED" as const,
  };
  const { tasks, failures } = await ecs.send(
    new RunTaskCommand({
      cluster,
      taskDefinition,
      launchType: "FARGATE",
      count: 1,
      startedBy: "pulumi",
      // The SDK repeats the token with each attempt, so that a lost response does not start a second
      // migration.
      clientToken: randomUUID(),
      networkConfiguration: { awsvpcConfiguration },
    }),
  );
  const taskArn = tasks?.[0]?.taskArn;
  if (taskArn !== undefined) return taskArn;
  const reasons = failures
    ?.map(({ reason, detail }) => [reason, detail].filter(Boolean).join(": "))
    .join("; ");
  throw new Error(
    `The migration did not start: ${reasons || "ECS gave no reason"}. Check the task definition, and run pulumi up again.`,
  );
}

type EndOptions = { cluster: string; taskArn: string; pollIntervalMs: number; deadline: number };

async function end(ecs: ECSClient, options: EndOptions): Promise<Task | undefined> {
  const { cluster, taskArn, pollIntervalMs, deadline } = options;
  while (performance.now() < deadline) {
    await wait(pollIntervalMs);
    // ECS may not list a task immediately after it starts.
    const { tasks } = await ecs.send(new DescribeTasksCommand({ cluster, tasks: [taskArn] }));
    if (tasks?.[0]?.lastStatus === "STOPPED") return tasks[0];
  }
  return undefined;
}

/** A failed stop is harmless: the migration holds a lock until it ends, and other migrations wait. */
async function stop(ecs: ECSClient, cluster: string, task: string): Promise<void> {
  await ecs.send(new StopTaskCommand({ cluster, task, reason: "pulumi stopped waiting" })).catch(() => {});
}

type Failure = {
  logs: CloudWatchLogsClient;
  migration: MigrationTask;
  taskArn: string;
  reason: string;
  container?: string | undefined;
};

async function failure({ logs, migration, taskArn, reason, container = "migrate" }: Failure): Promise<Error> {
  const lines = await lastLines(logs, { migration, taskArn, container, count: 20 });
  const log = lines.length > 0 ? `\n${lines.join("\n")}` : "";
  return new Error(
    `The migration ${reason}, so the service still runs the previous release. See the log group ${migration.logGroup}.${log}`,
  );
}

type LastLines = { migration: MigrationTask; taskArn: string; container: string; count: number };

/** Ignores a failed read of the log, because the migration's result is already known. */
async function lastLines(logs: CloudWatchLogsClient, options: LastLines): Promise<string[]> {
  const { migration, taskArn, container, count } = options;
  const logStreamName = `task/${container}/${taskArn.split("/").at(-1)}`;
  const input = { logGroupName: migration.logGroup, logStreamName, limit: count, startFromHead: false };
  const { events } = await logs.send(new GetLogEventsCommand(input)).catch(() => ({ events: [] }));
  return (events ?? []).map(({ message }) => message ?? "");
}
