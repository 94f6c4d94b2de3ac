import { readFileSync } from "node:fs";
import { appUser, dataDir, migrateUser } from "./gateway-environment.ts";
import { gatewayPort } from "./ports.ts";
import { stopSecondsMax } from "./timing.ts";

type ContainerOptions = {
  image: string;
  region: string;
  logGroup: string;
  environment: Record<string, string>;
  /** Maps variable names to the ARNs of their values. */
  secrets?: Record<string, string>;
};

export function gatewayContainer(options: ContainerOptions) {
  const healthy = `fetch("http://127.0.0.1:${gatewayPort}/healthz").then(r=>process.exit(r.ok?0:1),()=>process.exit(1))`;
  return {
    name: "gateway",
    ...confined(options),
    portMappings: [{ containerPort: gatewayPort, hostPort: gatewayPort, protocol: "tcp" }],
    // The check proves only that the process is alive. The load balancer checks whether the process can
    // serve.
    healthCheck: {
      command: ["CMD", "node", "-e", healthy],
      interval: 10,
      timeout: 5,
      retries: 3,
      startPeriod: 60,
    },
    // A crashed gateway restarts in its task, which still has the spool of usage records.
    restartPolicy: { enabled: true, restartAttemptPeriod: 60 },
    ulimits: [{ name: "nofile", softLimit: 65_536, hardLimit: 65_536 }],
    stopTimeout: stopSecondsMax,
  };
}

export function migrateContainer(options: ContainerOptions) {
  return {
    name: "migrate",
    ...confined(options),
    command: ["node", "gateway/main.ts", "migrate"],
    dependsOn: [{ containerName: "database-users", condition: "SUCCESS" }],
  };
}

export function databaseUsersContainer(options: ContainerOptions) {
  const program = readFileSync(new URL("create-database-users.ts", import.meta.url), "utf8");
  const environment = {
    ...options.environment,
    DATABASE_NAME: "gateway",
    OWNER_USER: "gateway_owner",
    APP_USER: appUser,
    MIGRATE_USER: migrateUser,
  };
  return {
    name: "database-users",
    ...confined({ ...options, environment }),
    essential: false,
    command: ["node", "--input-type=module-typescript", "--eval", program],
  };
}

function confined({ image, region, logGroup, environment, secrets = {} }: ContainerOptions) {
  return {
    image,
    essential: true,
    user: "1000:1000",
    privileged: false,
    readonlyRootFilesystem: true,
    linuxParameters: { initProcessEnabled: true, capabilities: { drop: ["ALL"] } },
    mountPoints: [{ sourceVolume: "data", containerPath: dataDir, readOnly: false }],
    // The variables are sorted, so that the same environment gives the same task definition.
    environment: Object.entries(environment)
      .map(([name, value]) => ({ name, value }))
      .toSorted((a, b) => a.name.localeCompare(b.name)),
    secrets: Object.entries(secrets).map(([name, valueFrom]) => ({ name, valueFrom })),
    logConfiguration: {
      logDriver: "awslogs",
      options: {
        "awslogs-group": logGroup,
        "awslogs-region": region,
        "awslogs-stream-prefix": "task",
        mode: "non-blocking",
        "max-buffer-size": "25m",
      },
    },
  };
}
