import test from "ava";
import { readConfig } from "../gateway/config/config.ts";
import { problemsOf } from "./helpers/problems-of.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };

test("without a collector tracing is off, whatever the other variables", (t) => {
  t.is(readConfig({ OTEL_SERVICE_NAME: "gateway", OTEL_TRACES_SAMPLER: "always_on" }).tracing, null);
  t.is(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }).tracing, null);
});

test("a collector is the only required setting", (t) => {
  t.deepEqual(readConfig(endpoint).tracing, {
    url: "http://localhost:4318/v1/traces",
    protocol: "http/protobuf",
    headers: {},
    timeoutMs: 10_000,
    delayMs: 5_000,
    queueSpansMax: 2_048,
    serviceName: "model-gateway",
    attributes: {},
    sampler: "parentbased_always_on",
    sampledShare: 1,
  });
});

test("lists use OpenTelemetry's format, and OTEL_SERVICE_NAME beats the attribute", (t) => {
  const attributes = "service.name=one, team=a%2Cb%20c,,empty=,city=%E6%9D%B1%E4%BA%AC,a/b=c";
  const { tracing } = readConfig({ ...endpoint, OTEL_RESOURCE_ATTRIBUTES: attributes });
  t.deepEqual(tracing?.attributes, {
    "service.name": "one",
    team: "a,b c",
    empty: "",
    city: "東京",
    "a/b": "c",
  });
  t.is(tracing?.serviceName, "one");
  const named = { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: attributes, OTEL_SERVICE_NAME: "two" };
  t.is(readConfig(named).tracing?.serviceName, "two");
});

const wrong: [variable: string, value: string, message: string][] = [
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", "is not an http or https URL"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", '"grpc" is not supported'],
  ["OTEL_EXPORTER_OTLP_HEADERS", "Bearer hush", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=1%0d%0ab: hush", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=hush%zz", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a/b=hush", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "a=hush%E6%9D%B1", "is not a list of name=value pairs"],
  ["OTEL_EXPORTER_OTLP_TIMEOUT", "0", "is out of range. Use a whole number from 1 to 2147483647."],
  ["OTEL_RESOURCE_ATTRIBUTES", "hush", "is not a list of name=value pairs"],
  ["OTEL_TRACES_SAMPLER", "xray", "is not a sampler"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", '"1.5" is not a share of the traces'],
  ["OTEL_BSP_MAX_QUEUE_SIZE", "many", "is not a number of spans"],
];

for (const [variable, value, message] of wrong) {
  test(`${variable} rejects ${value.replaceAll("%", "")}`, (t) => {
    const [problem = "", ...more] = problemsOf({ ...endpoint, [variable]: value });
    t.true(problem.startsWith(`${variable}: `) && problem.includes(message), problem);
    t.deepEqual(more, []);
    t.false(problem.includes("hush"));
  });
}
