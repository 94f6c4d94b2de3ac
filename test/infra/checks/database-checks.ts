import { changing, type Check, field, problems } from "../helpers/check.ts";
import { find, type Graph, type GraphResource, type Inputs, isUnknown, ofType } from "../helpers/graph.ts";

const instanceType = "aws:rds/instance:Instance";
const parametersType = "aws:rds/parameterGroup:ParameterGroup";

export const databaseChecks: Record<number, Check> = {
  3: {
    title: "the database is private and encrypted, in production redundant and protected",
    findings(graph) {
      const isProduction = graph.stack === "prod";
      return ofType(graph, instanceType).flatMap((instance) => {
        const { inputs } = instance;
        const days = Number(inputs["backupRetentionPeriod"]);
        const rules: [boolean, string][] = [
          [inputs["publiclyAccessible"] === false, "is public"],
          [inputs["storageEncrypted"] === true, "is not sealed"],
          [refersTo(instance, "kmsKeyId", "kms/key"), "is sealed with a key that is not ours"],
          [inputs["manageMasterUserPassword"] === true, "has a password of ours"],
          [
            refersTo(instance, "masterUserSecretKmsKeyId", "kms/key"),
            "has a secret that is not sealed by us",
          ],
          [inputs["iamDatabaseAuthenticationEnabled"] === true, "does not take tokens"],
          [inputs["applyImmediately"] === false, "changes in the middle of the day"],
          [days >= (isProduction ? 7 : 1), "has too few backups"],
          [!isProduction || inputs["multiAz"] === true, "is in one zone"],
          [!isProduction || inputs["deletionProtection"] === true, "may be deleted"],
          [!isProduction || instance.isProtected, "is not protected by Pulumi"],
          [!isProduction || inputs["skipFinalSnapshot"] === false, "leaves no last snapshot"],
          [routesFrom(graph, instance) === 0, "is in a subnet with a way to elsewhere"],
        ];
        return rules.filter(([holds]) => !holds).map(([, problem]) => `${instance.name} ${problem}`);
      });
    },
    mutants: {
      public: changing(instanceType, "database", { publiclyAccessible: true }),
      "not sealed": changing(instanceType, "database", { storageEncrypted: false }),
      "sealed with Amazon's key": (graph) => delete databaseOf(graph).propertyDependencies["kmsKeyId"],
      "a password of ours": changing(instanceType, "database", { manageMasterUserPassword: false }),
      "one zone": changing(instanceType, "database", { multiAz: false }),
      "six backups": changing(instanceType, "database", { backupRetentionPeriod: 6 }),
      "no deletion protection": changing(instanceType, "database", { deletionProtection: false }),
      "no protect": (graph) => {
        databaseOf(graph).isProtected = false;
      },
      "no last snapshot": changing(instanceType, "database", { skipFinalSnapshot: true }),
      "no tokens": changing(instanceType, "database", { iamDatabaseAuthenticationEnabled: false }),
      "at once": changing(instanceType, "database", { applyImmediately: true }),
      "a way out": (graph) => {
        const route = structuredClone(find(graph, "aws:ec2/route:Route", "app-0"));
        route.propertyDependencies["routeTableId"] = [
          find(graph, "aws:ec2/routeTable:RouteTable", "data").urn,
        ];
        graph.resources.push(route);
      },
    },
  },
  4: {
    title: "the database accepts only TLS 1.2 and 1.3",
    findings: (graph) =>
      ofType(graph, instanceType).flatMap((instance) => {
        const used = instance.propertyDependencies["parameterGroupName"] ?? [];
        const groups = ofType(graph, parametersType).filter(({ urn }) => used.includes(urn));
        if (groups.length === 0) return [`${instance.name} has no parameter group of ours`];
        return problems(groups, (group) => {
          if (parameter(group, "require_secure_transport")?.["value"] !== "1") return "TLS is not required";
          const versions = String(parameter(group, "tls_version")?.["value"]).split(",");
          return versions.some((version) => !["TLSv1.2", "TLSv1.3"].includes(version)) && "old TLS is taken";
        });
      }),
    mutants: {
      "not required": (graph) => setParameter(graph, "require_secure_transport", "0"),
      "not said": (graph) => setParameter(graph, "require_secure_transport", null),
      "TLS 1.1": (graph) => setParameter(graph, "tls_version", "TLSv1.1,TLSv1.2"),
      "a parameter group that is not in use": (graph) =>
        delete databaseOf(graph).propertyDependencies["parameterGroupName"],
    },
  },
};

function databaseOf(graph: Graph): GraphResource {
  return find(graph, instanceType, "database");
}

function refersTo({ inputs, propertyDependencies }: GraphResource, property: string, type: string): boolean {
  const value = inputs[property];
  const isThere = value !== undefined && value !== null && (isUnknown(value) || typeof value === "string");
  return isThere && (propertyDependencies[property] ?? []).some((urn) => urn.includes(`aws:${type}:`));
}

/**
 * Returns the number of routes out of a database's subnets, or -1 if the routes are unknown or the database has fewer
 * than two subnets.
 */
function routesFrom(graph: Graph, instance: GraphResource): number {
  const follow = (urns: string[], property: string) =>
    graph.resources
      .filter(({ urn }) => urns.includes(urn))
      .flatMap(({ propertyDependencies }) => propertyDependencies[property] ?? []);
  const subnets = follow(instance.propertyDependencies["dbSubnetGroupName"] ?? [], "subnetIds");
  const tables = ofType(graph, "aws:ec2/routeTableAssociation:RouteTableAssociation")
    .filter(({ propertyDependencies }) =>
      propertyDependencies["subnetId"]?.some((urn) => subnets.includes(urn)),
    )
    .flatMap(({ propertyDependencies }) => propertyDependencies["routeTableId"] ?? []);
  const routes = ofType(graph, "aws:ec2/route:Route").filter(({ propertyDependencies }) =>
    propertyDependencies["routeTableId"]?.some((urn) => tables.includes(urn)),
  );
  // A subnet without its own table uses the network's main table, so its routes are unknown.
  return tables.length === subnets.length && subnets.length > 1 ? routes.length : -1;
}

function parameter(group: GraphResource, name: string): Inputs | undefined {
  const parameters = group.inputs["parameters"];
  const found = Array.isArray(parameters)
    ? parameters.find((each) => field(each, "name") === name)
    : undefined;
  return found as Inputs | undefined;
}

function setParameter(graph: Graph, name: string, value: string | null): void {
  const found = parameter(find(graph, parametersType, "database"), name);
  if (found) Object.assign(found, value === null ? { name: "gone" } : { value });
}
