import { readConfig } from "../../../gateway/config/config.ts";
import { variables } from "../../../gateway/config/variables.ts";
import { changing, type Check, problems } from "../helpers/check.ts";
import {
  changeContainer,
  changeVariable,
  type Container,
  containersOf,
  environmentOf,
} from "../helpers/containers-of.ts";
import { find, ofType, texts } from "../helpers/graph.ts";

const instanceType = "aws:rds/instance:Instance";
const secretName = /password|secret|token|credential|private_?key|api_?key/i;
/** Values that are never secrets, whatever their names are: ARNs, booleans and empty strings. */
const harmless = /^(arn:|true$|false$|$)/;
const secretText = /\w+:\/\/[^\s/:@]+:[^\s/@]+@|AKIA[0-9A-Z]{16}|-----BEGIN|\bsk-[A-Za-z0-9]{16}/;

export const configurationChecks: Record<number, Check> = {
  11: {
    title: "Pulumi's state and the task definitions contain no plain secret",
    findings(graph) {
      const inputs = graph.resources.flatMap(({ name, inputs: values }) =>
        texts(values).map(({ path, text }) => ({
          where: `${name}.${path.join(".")}`,
          last: path.at(-1) ?? "",
          path,
          text,
        })),
      );
      const variables = containersOf(graph).flatMap(({ container }) =>
        container.environment.map(({ name, value }) => ({ where: `${container.name} ${name}`, name, value })),
      );
      return [
        ...problems(inputs, ({ where, last, path, text }) => {
          if (path.includes("$secret")) return false;
          const isNamedSo = secretName.test(last) && !harmless.test(text);
          return (isNamedSo || secretText.test(text)) && `${where} is a secret in the clear`;
        }),
        ...problems(
          variables,
          ({ where, name, value }) =>
            (secretName.test(name) || secretText.test(value)) && `${where} is a secret`,
        ),
        ...problems(
          containersOf(graph).flatMap(({ container }) => container.secrets),
          ({ name, valueFrom }) =>
            !valueFrom.startsWith("arn:aws:secretsmanager:") && `${name} is not in Secrets Manager`,
        ),
        ...ofType(graph, "aws:secretsmanager/secretVersion:SecretVersion").map(
          ({ name }) => `${name} has a value that Pulumi knows`,
        ),
      ];
    },
    mutants: {
      "a password of the database": changing(instanceType, "database", { password: "hunter2" }),
      "a password in a URL": changeVariable("DATABASE_URL", "mysql://root:hunter2@host/gateway"),
      "a password in the environment": changeVariable("ADMIN_PASSWORD", "hunter2hunter2"),
      "a key in a tag": changing(instanceType, "database", { tags: { note: "AKIAIOSFODNN7EXAMPLE" } }),
      "a secret that is a value": changeContainer({
        secrets: [{ name: "JWT_SECRET", valueFrom: "hunter2" }],
      }),
      "a value of a secret": (graph) => {
        const type = "aws:secretsmanager/secretVersion:SecretVersion";
        const secret = find(graph, "aws:secretsmanager/secret:Secret", "signing");
        graph.resources.push({ ...secret, type, inputs: { secretString: { $secret: "hunter2" } } });
      },
    },
  },
  20: {
    title: "the gateway accepts every given variable and starts",
    findings: (graph) =>
      containersOf(graph)
        .filter(({ container }) => container.name !== "database-users")
        .flatMap(({ container }) => {
          const given = [...container.environment, ...container.secrets].map(({ name }) => name);
          const unknown = given.filter((name) => !(name in variables));
          const twice = given.filter((name, index) => given.indexOf(name) !== index);
          return [
            ...unknown.map((name) => `${container.name}: the gateway does not know ${name}`),
            ...twice.map((name) => `${container.name}: ${name} is given twice`),
            ...startProblem(container),
          ];
        }),
    mutants: {
      "a name that is not one": changeVariable("DRAIN_TIMEOUT", "1"),
      "given twice": changeVariable("PORT", "8080"),
      "a value that is refused": changeVariable("LOG_LEVEL", "loud"),
      "a secret that is not one": changeContainer({
        secrets: [{ name: "SIGNING_KEY", valueFrom: "arn:aws:secretsmanager:" }],
      }),
    },
  },
};

function startProblem(container: Container): string[] {
  const secrets = container.secrets.map(({ name }) => [name, "x".repeat(48)]);
  try {
    readConfig({ ...environmentOf(container), ...Object.fromEntries(secrets) });
    return [];
  } catch (error) {
    return [String(error)];
  }
}
