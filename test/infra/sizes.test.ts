import test from "ava";
import * as fc from "fast-check";
import { connectionsAvailable, hasPerformanceInsights, isFargatePair, workersOf } from "../../infra/sizes.ts";
import { subnetBlocks } from "../../infra/subnet-blocks.ts";
import { namesOf, repositoryOf } from "../../infra/names.ts";

test("Fargate accepts only its own pairs of CPU and memory", (t) => {
  const pairs: [number, number, boolean][] = [
    [256, 512, true],
    [256, 2_048, true],
    [256, 3_072, false],
    [512, 512, false],
    [512, 1_024, true],
    [1_024, 8_192, true],
    [4_096, 30_720, true],
    [4_096, 31_744, false],
    [8_192, 20_480, true],
    [8_192, 21_504, false],
    [300, 1_024, false],
  ];
  for (const [cpu, memory, expected] of pairs) t.is(isFargatePair(cpu, memory), expected, `${cpu}/${memory}`);
});

test("a task runs one process per whole CPU", (t) => {
  t.deepEqual([256, 512, 1_024, 2_048, 4_096].map(workersOf), [1, 1, 1, 2, 4]);
});

test("connections grow with the database's memory, less a fifth", (t) => {
  t.is(connectionsAvailable("db.t4g.medium"), 273);
  t.is(connectionsAvailable("db.m7g.large"), 546);
  t.is(connectionsAvailable("db.r7g.large"), 1_092);
  t.is(connectionsAvailable("db.r7g.xlarge"), 2_184);
  t.is(connectionsAvailable("db.r7g.2xlarge"), 4_369);
});

test("the smallest databases have no Performance Insights", (t) => {
  t.deepEqual(["db.t4g.micro", "db.t4g.small", "db.t4g.medium"].map(hasPerformanceInsights), [
    false,
    false,
    true,
  ]);
});

test("subnets lie in their network and never overlap", (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 2, max: 3 }), (second, zones) => {
      const blocks = subnetBlocks(`10.${second}.0.0/16`, zones).flatMap((zone) => Object.values(zone));
      const starts = blocks.map((block) => /^10\.(\d+)\.(\d+)\.0\/20$/.exec(block));
      t.true(starts.every((match) => Number(match?.[1]) === second && Number(match?.[2]) % 16 === 0));
      t.is(new Set(blocks).size, zones * 3);
    }),
  );
});

test("generated names are valid in AWS", (t) => {
  const { prefix, cluster, logs } = namesOf("gateway", "a-stack-of-16-ch");
  t.true(`${prefix}-access-logs-`.length <= 37, "a bucket's prefix");
  t.true(cluster.length <= 32, "a load balancer's name");
  t.is(new Set(Object.values(logs)).size, 5);
});

test("the registry is derived from the image", (t) => {
  const digest = `@sha256:${"0".repeat(64)}`;
  const amazon = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/team/model-gateway";
  const arn = "arn:aws:ecr:eu-central-1:111122223333:repository/team/model-gateway";
  for (const image of [amazon, `${amazon}:1.2`, `${amazon}${digest}`, `${amazon}:1.2${digest}`])
    t.deepEqual(repositoryOf(image), { url: amazon, arn });
  t.deepEqual(repositoryOf(`ghcr.io/team/gateway${digest}`), { url: "ghcr.io/team/gateway", arn: null });
  t.deepEqual(repositoryOf("localhost:5000/gateway"), { url: "localhost:5000/gateway", arn: null });
});
