import { changing, type Check, problems } from "../helpers/check.ts";
import { find, type Graph, type GraphResource, ofType } from "../helpers/graph.ts";

const ingressType = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule";
const egressType = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule";
const groupType = "aws:ec2/securityGroup:SecurityGroup";
const defaultGroupType = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup";

export const networkChecks: Record<number, Check> = {
  1: {
    title: "the internet reaches the load balancer on 80 and 443, and tasks reach the internet on 443",
    findings(graph) {
      const edgeGroups = groupsOf(ofType(graph, "aws:lb/loadBalancer:LoadBalancer"), "securityGroups");
      return [
        ...problems(ofType(graph, ingressType).filter(isPublic), (rule) => {
          const isEdge = groupsOf([rule], "securityGroupId").every((urn) => edgeGroups.includes(urn));
          return !(isEdge && opens(rule, [80, 443])) && `${rule.name} lets the internet in`;
        }),
        ...problems(
          ofType(graph, egressType).filter(isPublic),
          (rule) => !opens(rule, [443]) && `${rule.name} lets more out than 443`,
        ),
        ...problems(
          ofType(graph, groupType),
          ({ name, inputs }) =>
            (inputs["ingress"] ?? inputs["egress"]) !== undefined && `${name} has rules of its own`,
        ),
      ];
    },
    mutants: {
      "a task open to the world": (graph) => addRule(graph, "app", { cidrIpv4: "0.0.0.0/0" }, 8080),
      "and by IPv6": (graph) => addRule(graph, "app", { cidrIpv6: "::/0" }, 443),
      "the edge open on another port": (graph) => addRule(graph, "edge", { cidrIpv4: "0.0.0.0/0" }, 22),
      "half of the world": (graph) => addRule(graph, "app", { cidrIpv4: "128.0.0.0/1" }, 8080),
      "all ports out": changing(egressType, "app-internet", { fromPort: 0, toPort: 65_535 }),
      "all protocols out": changing(egressType, "app-internet", { ipProtocol: "-1" }),
      "a rule in a group": changing(groupType, "app", { ingress: [{ fromPort: 0 }] }),
    },
  },
  2: {
    title: "only the tasks and the migration reach the database, which reaches nothing",
    findings(graph) {
      const database = groupsOf(ofType(graph, "aws:rds/instance:Instance"), "vpcSecurityGroupIds");
      const service = groupsOf(ofType(graph, "aws:ecs/service:Service"), "networkConfiguration");
      const allowed = [...service, find(graph, groupType, "migrate").urn];
      const ofDatabase = (rule: GraphResource) =>
        groupsOf([rule], "securityGroupId").some((urn) => database.includes(urn));
      const peers = ofType(graph, ingressType).filter(ofDatabase);
      return [
        ...(database.length === 1 ? [] : [`the database is in ${database.length} groups`]),
        ...(peers.length === 2 ? [] : [`${peers.length} rules lead to the database`]),
        ...problems(peers, (rule) => {
          const from = groupsOf([rule], "referencedSecurityGroupId");
          const isAllowed = from.length === 1 && from.every((urn) => allowed.includes(urn));
          return !(isAllowed && opens(rule, [3306])) && `${rule.name} leads to the database`;
        }),
        ...problems(
          ofType(graph, egressType).filter(ofDatabase),
          ({ name }) => `${name} leads out of the database`,
        ),
        ...problems(ofType(graph, defaultGroupType), ({ inputs }) => {
          const isEmpty = JSON.stringify([inputs["ingress"], inputs["egress"]]) === "[[],[]]";
          return !isEmpty && "the default group is not empty";
        }),
      ];
    },
    mutants: {
      "the load balancer may ask": (graph) => {
        const rule = find(graph, ingressType, "app-database");
        rule.propertyDependencies["referencedSecurityGroupId"] = [find(graph, groupType, "edge").urn];
      },
      "an address block may ask": (graph) => addRule(graph, "database", { cidrIpv4: "10.0.0.0/8" }, 3306),
      "all ports": changing(ingressType, "app-database", { fromPort: 0 }),
      "a second group": (graph) => {
        const [database] = ofType(graph, "aws:rds/instance:Instance");
        database?.propertyDependencies["vpcSecurityGroupIds"]?.push(find(graph, groupType, "edge").urn);
      },
      "a way out": (graph) => {
        const rule = find(graph, egressType, "app-internet");
        rule.propertyDependencies["securityGroupId"] = [find(graph, groupType, "database").urn];
      },
      "rules in the default group": changing(defaultGroupType, "default", { egress: [{}] }),
    },
  },
};

function groupsOf(resources: GraphResource[], property: string): string[] {
  return resources
    .flatMap(({ propertyDependencies }) => propertyDependencies[property] ?? [])
    .filter((urn) => urn.split("::")[2]?.endsWith(groupType));
}

function isPublic({ inputs }: GraphResource): boolean {
  if (inputs["cidrIpv6"] !== undefined) return true;
  const block = inputs["cidrIpv4"];
  return typeof block === "string" && !/^(10|172\.(1[6-9]|2\d|3[01])|192\.168)\./.test(block);
}

function opens({ inputs }: GraphResource, ports: number[]): boolean {
  const { ipProtocol, fromPort, toPort } = inputs;
  return ipProtocol === "tcp" && fromPort === toPort && ports.some((port) => port === fromPort);
}

function addRule(graph: Graph, group: string, peer: Record<string, string>, port: number): void {
  const rule = structuredClone(find(graph, ingressType, "edge-443"));
  rule.name = `${group}-added`;
  rule.inputs = { ipProtocol: "tcp", fromPort: port, toPort: port, ...peer };
  rule.propertyDependencies["securityGroupId"] = [find(graph, groupType, group).urn];
  graph.resources.push(rule);
}
