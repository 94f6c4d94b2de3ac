import type { Policy, Statement } from "../../../infra/policies.ts";

type Question = {
  /** The ARN of the requesting role. */
  principal: string;
  accountId: string;
  identity: Policy[];
  resource: Policy;
  action: string;
  resourceArn: string;
  context?: Record<string, string>;
};

/**
 * Returns whether KMS permits an operation on a key. No policy may deny it. The key's policy must permit the
 * principal, or permit the account while the principal's own policies permit the operation.
 * https://docs.aws.amazon.com/kms/latest/developerguide/policy-evaluation.html
 */
export function isAllowed(question: Question): boolean {
  const { principal, accountId, identity, resource, resourceArn } = question;
  const own = identity.flatMap(({ Statement }) => Statement).filter((each) => appliesTo(each, question));
  const ofOwn = own.filter((each) => matches(list(each.Resource), resourceArn));
  const ofKey = (arn: string) =>
    resource.Statement.filter((each) => appliesTo(each, question) && principals(each).includes(arn));
  const root = `arn:aws:iam::${accountId}:root`;
  if ([...ofOwn, ...ofKey(principal), ...ofKey(root), ...ofKey("*")].some(({ Effect }) => Effect === "Deny"))
    return false;
  if (ofKey(principal).length > 0 || ofKey("*").length > 0) return true;
  return ofKey(root).length > 0 && ofOwn.length > 0;
}

function appliesTo(statement: Statement, { action, context = {} }: Question): boolean {
  const conditions = Object.entries(statement.Condition ?? {});
  const hold = conditions.every(([operator, pairs]) => {
    if (!["StringEquals", "ArnEquals", "Bool"].includes(operator))
      throw new Error(`Unknown operator ${operator}.`);
    return Object.entries(pairs).every(([name, wanted]) =>
      list(wanted).includes(context[name] ?? "(absent)"),
    );
  });
  return hold && matches(list(statement.Action), action);
}

function principals({ Principal }: Statement): string[] {
  if (Principal === "*") return ["*"];
  return list(Principal?.AWS);
}

function matches(patterns: string[], text: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split("*").map((part) => part.replaceAll(/[.?+^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "i").test(text);
  });
}

export function list<Item>(value: Item | Item[] | undefined): Item[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
