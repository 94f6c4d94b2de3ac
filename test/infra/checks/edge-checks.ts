import { variables } from "../../../gateway/config/variables.ts";
import { changing, type Check, field, problems } from "../helpers/check.ts";
import { changeContainer, changeVariable, containersOf, environmentOf } from "../helpers/containers-of.ts";
import { find, type Graph, ofType, type Value } from "../helpers/graph.ts";

const listenerType = "aws:lb/listener:Listener";
const balancerType = "aws:lb/loadBalancer:LoadBalancer";
const targetsType = "aws:lb/targetGroup:TargetGroup";
const modernTls = ["ELBSecurityPolicy-TLS13-1-2-2021-06", "ELBSecurityPolicy-TLS13-1-3-2021-06"];

type Timing =
  | `${"KEEP_ALIVE" | "UPSTREAM_FIRST_BYTE" | "UPSTREAM_TOTAL" | "DRAIN"}_TIMEOUT`
  | "STREAM_PING_INTERVAL";

export const edgeChecks: Record<number, Check> = {
  7: {
    title: "443 forwards over modern TLS, 80 redirects; only development serves plain HTTP",
    findings(graph) {
      const listeners = ofType(graph, listenerType);
      const isPlain = graph.stack !== "prod" && listeners.length === 1;
      const findings = problems(listeners, ({ name, inputs }) => {
        const action = firstAction(inputs["defaultActions"]);
        const type = field(action, "type");
        if (inputs["port"] === 80 && isPlain) return type !== "forward" && `${name} does not forward`;
        if (inputs["port"] === 80) {
          const isToTls = field(field(action, "redirect"), "protocol") === "HTTPS";
          return !(type === "redirect" && isToTls) && `${name} does not redirect to TLS`;
        }
        if (inputs["port"] !== 443) return `${name} listens on another port`;
        if (inputs["protocol"] !== "HTTPS" || inputs["certificateArn"] === undefined)
          return `${name} has no TLS`;
        if (!modernTls.includes(String(inputs["sslPolicy"]))) return `${name} takes old TLS`;
        return type !== "forward" && `${name} does not forward`;
      });
      const rules = ofType(graph, "aws:lb/listenerRule:ListenerRule");
      if (!isPlain && listeners.length !== 2) findings.push(`there are ${listeners.length} listeners`);
      return [...findings, ...rules.map(({ name }) => `${name} is an exception to the listeners`)];
    },
    mutants: {
      "plain HTTP forwards": changing(listenerType, "http", { defaultActions: [{ type: "forward" }] }),
      "a redirect to plain HTTP": changing(listenerType, "http", {
        defaultActions: [{ type: "redirect", redirect: { protocol: "HTTP" } }],
      }),
      "old TLS": changing(listenerType, "https", { sslPolicy: "ELBSecurityPolicy-2016-08" }),
      "no TLS": changing(listenerType, "https", { protocol: "HTTP" }),
      "another port": changing(listenerType, "https", { port: 8443 }),
      "no redirect": (graph) => {
        graph.resources = graph.resources.filter((each) => each !== listener(graph, "http"));
      },
      "an exception": (graph) => {
        graph.resources.push({ ...listener(graph, "http"), type: "aws:lb/listenerRule:ListenerRule" });
      },
    },
  },
  8: {
    title: "timeouts increase from upstream to keep-alive, and drains outlast streams",
    findings(graph) {
      const [balancer] = ofType(graph, balancerType);
      const [targets] = ofType(graph, targetsType);
      const idle = Number(balancer?.inputs["idleTimeout"]);
      const draining = Number(targets?.inputs["deregistrationDelay"]);
      const gateways = containersOf(graph).filter(({ container }) => container.name === "gateway");
      return gateways.flatMap(({ container }) => {
        const environment = environmentOf(container);
        const seconds = (limit: Timing) =>
          variables[`${limit}_MS`].schema.parse(environment[`${limit}_MS`]) / 1_000;
        const { stopTimeout = 30 } = container;
        const rules: [boolean, string][] = [
          [
            idle < seconds("KEEP_ALIVE_TIMEOUT"),
            "the gateway closes connections that the load balancer still uses",
          ],
          [
            seconds("UPSTREAM_FIRST_BYTE_TIMEOUT") < idle,
            "the load balancer gives up before the gateway does",
          ],
          [seconds("STREAM_PING_INTERVAL") * 2 < idle, "silent streams are cut"],
          [seconds("UPSTREAM_TOTAL_TIMEOUT") <= draining, "draining cuts the longest streams"],
          [
            stopTimeout === seconds("DRAIN_TIMEOUT") + 10 && stopTimeout <= 120,
            "the drain does not fit before SIGKILL",
          ],
          [field(targets?.inputs["healthCheck"], "path") === "/readyz", "health is not /readyz"],
        ];
        return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
      });
    },
    mutants: {
      "idle as long as keep-alive": changing(balancerType, "edge", { idleTimeout: 140 }),
      "idle as long as the upstream": changing(balancerType, "edge", { idleTimeout: 120 }),
      "few pings": changeVariable("STREAM_PING_INTERVAL_MS", "90000"),
      "little draining": changing(targetsType, "app", { deregistrationDelay: 300 }),
      "long streams": changeVariable("UPSTREAM_TOTAL_TIMEOUT_MS", "1000000"),
      "a long drain": changeVariable("DRAIN_TIMEOUT_MS", "120000"),
      "an early SIGKILL": changeContainer({ stopTimeout: 30 }),
      "another health check": changing(targetsType, "app", { healthCheck: { path: "/" } }),
    },
  },
};

function listener(graph: Graph, name: string) {
  return find(graph, listenerType, name);
}

function firstAction(actions: Value | undefined): Value | undefined {
  return Array.isArray(actions) && actions.length === 1 ? actions[0] : undefined;
}
