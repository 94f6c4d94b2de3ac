import type { Policy, Statement } from "../../../infra/policies.ts";
import { changeJson, type Check, problems } from "../helpers/check.ts";
import { isAllowed, list } from "../helpers/evaluate-policy.ts";
import { find, type Graph, type GraphResource, json, ofType } from "../helpers/graph.ts";

const rolePolicyType = "aws:iam/rolePolicy:RolePolicy";
const roleType = "aws:iam/role:Role";
const keyType = "aws:kms/key:Key";
const accountId = "111122223333";
const taskRole = `arn:aws:iam::${accountId}:role/task-1a2b3c4`;
const providerKey = `arn:aws:kms:eu-central-1:${accountId}:key/provider-keys-1a2b3c4`;
const storageKey = `arn:aws:kms:eu-central-1:${accountId}:key/storage-1a2b3c4`;
const administrator: Policy = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Action: "*", Resource: "*" }],
};

export const accessChecks: Record<number, Check> = {
  5: {
    title: "no policy allows all actions, or all resources except for the registry login",
    findings(graph) {
      const statements = ofType(graph, rolePolicyType, keyType).flatMap((resource) =>
        (json<Policy>(resource.inputs["policy"])?.Statement ?? []).map((statement) => ({
          resource,
          statement,
        })),
      );
      const trusts = ofType(graph, roleType).flatMap(({ name, inputs }) =>
        (json<Policy>(inputs["assumeRolePolicy"])?.Statement ?? []).map((statement) => ({ name, statement })),
      );
      return [
        ...problems(statements, ({ resource: { name, type }, statement }) => {
          if (statement.Effect === "Deny") return false;
          if (list(statement.Action).some((action) => action.includes("*")))
            return `${name} allows actions by pattern`;
          if (statement.Principal === "*" || list(principalOf(statement)).includes("*"))
            return `${name} allows everybody`;
          // In a key policy, `*` means the key itself.
          if (type === keyType || !list(statement.Resource).includes("*")) return false;
          return (
            list(statement.Action).join() !== "ecr:GetAuthorizationToken" && `${name} is about everything`
          );
        }),
        ...problems(trusts, ({ name, statement }) => {
          const isBound = statement.Condition?.["StringEquals"]?.["aws:SourceAccount"] === accountId;
          return (!isBound || statement.Principal === "*") && `${name} is taken for other accounts`;
        }),
        ...problems(
          graph.resources.filter(({ type }) => type.endsWith("PolicyAttachment")),
          ({ name }) => `${name} attaches a policy that cannot be read here`,
        ),
      ];
    },
    mutants: {
      "all actions of a service": (graph) =>
        edit(graph, rolePolicyType, "service-execution", { Action: "ecr:*" }),
      "all secrets": (graph) =>
        edit(graph, rolePolicyType, "service-execution", {
          Action: "secretsmanager:GetSecretValue",
          Resource: "*",
        }),
      "all actions of a key": (graph) => edit(graph, keyType, "storage", { Action: "kms:*" }),
      "a key for everybody": (graph) => edit(graph, keyType, "storage", { Principal: "*" }),
      "a role for other accounts": (graph) =>
        changeJson<Policy>(find(graph, roleType, "task"), "assumeRolePolicy", ({ Statement: [first] }) => {
          if (first) delete first.Condition;
        }),
      "a policy of Amazon's": (graph) => {
        const attachment = structuredClone(find(graph, rolePolicyType, "service-execution"));
        graph.resources.push({ ...attachment, type: "aws:iam/rolePolicyAttachment:RolePolicyAttachment" });
      },
    },
  },
  6: {
    title: "only the tasks decrypt provider keys, with the stack's context",
    findings(graph) {
      const keys = [find(graph, keyType, "provider-keys"), find(graph, keyType, "storage")];
      const [providers, storage] = keys.map(({ inputs }) => json<Policy>(inputs["policy"]));
      // In a preview, the policies are not computed yet.
      if (!providers || !storage) return [];
      const task = policiesOf(graph, "task");
      const execution = policiesOf(graph, "service-execution");
      const right = { "kms:EncryptionContext:app": "gateway", "kms:EncryptionContext:stack": graph.stack };
      const wrong = { ...right, "kms:EncryptionContext:stack": "another" };
      const viaSecrets = { "kms:ViaService": "secretsmanager.eu-central-1.amazonaws.com" };
      const executionRole = `arn:aws:iam::${accountId}:role/service-execution-1a2b3c4`;
      const person = `arn:aws:iam::${accountId}:role/administrator`;
      const rows: Row[] = [
        ["the task", taskRole, task, providers, "kms:Decrypt", right, true],
        ["the task", taskRole, task, providers, "kms:GenerateDataKey", right, true],
        ["the task", taskRole, task, providers, "kms:Decrypt", {}, false],
        ["the task", taskRole, task, providers, "kms:Decrypt", wrong, false],
        ["the task", taskRole, task, providers, "kms:DescribeKey", {}, true],
        ["the task", taskRole, task, providers, "kms:PutKeyPolicy", right, false],
        ["the task", taskRole, task, providers, "kms:ScheduleKeyDeletion", right, false],
        ["the task", taskRole, task, providers, "kms:CreateGrant", right, false],
        ["the task", taskRole, task, storage, "kms:Decrypt", viaSecrets, false],
        ["the execution role", executionRole, execution, providers, "kms:Decrypt", right, false],
        ["the execution role", executionRole, execution, storage, "kms:Decrypt", viaSecrets, true],
        ["the execution role", executionRole, execution, storage, "kms:Decrypt", {}, false],
        ...["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:CreateGrant"].map(
          (action): Row => ["an administrator", person, [administrator], providers, action, right, false],
        ),
        ["an administrator", person, [administrator], providers, "kms:PutKeyPolicy", {}, true],
        ["an administrator", person, [administrator], storage, "kms:Decrypt", {}, false],
      ];
      return problems(rows, ([who, principal, identity, resource, action, context, isWanted]) => {
        const resourceArn = resource === providers ? providerKey : storageKey;
        const is = isAllowed({ principal, accountId, identity, resource, action, resourceArn, context });
        const of = resource === providers ? "providers' keys" : "storage";
        return (
          is !== isWanted &&
          `${who} ${is ? "may" : "may not"} ${action} ${of} with ${JSON.stringify(context)}`
        );
      });
    },
    mutants: {
      "no context asked for": editProviderKey("SealAndOpen", { Condition: {} }),
      "no stack asked for": editProviderKey("SealAndOpen", {
        Condition: { StringEquals: { "kms:EncryptionContext:app": "gateway" } },
      }),
      "an administrator opens": editProviderKey("Administer", {
        Action: ["kms:Decrypt", "kms:PutKeyPolicy"],
      }),
      "an administrator makes grants": editProviderKey("Administer", {
        Action: ["kms:CreateGrant", "kms:PutKeyPolicy"],
      }),
      "nobody administers": editProviderKey("Administer", { Action: "kms:DescribeKey" }),
      "the task cannot open": editProviderKey("SealAndOpen", { Action: "kms:GenerateDataKey" }),
      "the task administers": editProviderKey("Describe", {
        Action: ["kms:DescribeKey", "kms:PutKeyPolicy"],
      }),
      "the execution role opens": editProviderKey("SealAndOpen", {
        Principal: { AWS: `arn:aws:iam::${accountId}:root` },
        Condition: {},
      }),
      "storage without a service": (graph) =>
        edit(graph, keyType, "storage", { Condition: {} }, "ThroughServices"),
    },
  },
};

type Row = [
  who: string,
  principal: string,
  identity: Policy[],
  key: Policy,
  action: string,
  context: Record<string, string>,
  isWanted: boolean,
];

function principalOf({ Principal }: Statement): string | string[] | undefined {
  return typeof Principal === "object" ? Principal.AWS : Principal;
}

function policiesOf(graph: Graph, role: string): Policy[] {
  const { urn } = find(graph, roleType, role);
  const ofRole = ({ propertyDependencies }: GraphResource) =>
    propertyDependencies["role"]?.includes(urn) ?? false;
  return ofType(graph, rolePolicyType)
    .filter(ofRole)
    .flatMap(({ inputs }) => json<Policy>(inputs["policy"]) ?? []);
}

function edit(graph: Graph, type: string, name: string, changes: Partial<Statement>, sid?: string): void {
  changeJson<Policy>(find(graph, type, name), "policy", (policy) => {
    const found = policy.Statement.find(({ Sid }) => sid === undefined || Sid === sid);
    if (!found) throw new Error(`There is no statement ${sid} in ${name}.`);
    Object.assign(found, changes);
  });
}

function editProviderKey(sid: string, changes: Partial<Statement>): (graph: Graph) => void {
  return (graph) => edit(graph, keyType, "provider-keys", changes, sid);
}
