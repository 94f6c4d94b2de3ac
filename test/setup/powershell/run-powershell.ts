import { assign, evaluate, need, readArguments } from "./expressions.ts";
import type { Machine } from "./machine.ts";
import type { Tree } from "./parse-powershell.ts";
import { Scope } from "./scope.ts";
import type { System } from "./stand-in-system.ts";
import { enumerate, Hash, isTrue, List, Native, Thrown, toNumber, toText } from "./values.ts";

/**
 * Interprets the subset of PowerShell that the setup commands use. Functions return their output, scopes are
 * dynamic, and StrictMode applies. Throws on unknown syntax.
 */
export function runPowerShell(
  tree: Tree,
  system?: System,
): (name: string, ...parameters: unknown[]) => unknown {
  const functions = new Map<string, Tree>();
  const top = new Scope(null);
  const machine: Machine = {
    system,
    runCommand: (command, scope) => runCommand(command, scope, functions, machine),
    collect: (block, scope) => {
      const output: unknown[] = [];
      runBlock(block, scope, output, machine);
      return output;
    },
  };
  // A setup command is a script block, `& { … }`. The block's statements run in the top scope.
  const block = tree.type === "command" ? need(tree.children[1]).children.slice(1, -1) : [tree];
  for (const statement of block.flatMap(statementsOf)) {
    if (statement.type === "function_statement") functions.set(need(statement.children[1]).text, statement);
    else runStatement(statement, top, [], machine);
  }
  return (name, ...parameters) => callFunction(need(functions.get(name)), parameters, top, machine);
}

class Leave extends Error {
  readonly how: string;
  constructor(how: string) {
    super(how);
    this.how = how;
  }
}

/** These errors are created once, because new stack traces would take half of the run time. */
const leaves = new Map(["break", "continue", "return"].map((how) => [how, new Leave(how)]));

function statementsOf(tree: Tree): Tree[] {
  return tree.type === "program" || tree.type === "statement_list"
    ? tree.children.flatMap(statementsOf)
    : [tree];
}

function callFunction(definition: Tree, parameters: unknown[], caller: Scope, machine: Machine): unknown {
  const scope = new Scope(caller);
  const declaration = definition.children.find(({ type }) => type === "function_parameter_declaration");
  const list = declaration?.children[1];
  const names =
    list?.type === "parameter_list"
      ? list.children.filter(({ type }) => type === "variable")
      : list
        ? [list]
        : [];
  names.forEach(({ text }, index) => scope.write(text.slice(1), parameters[index]));
  if (parameters.length !== names.length)
    throw new Error(`line ${definition.line}: another count of parameters.`);
  const output: unknown[] = [];
  const body = definition.children.slice(definition.children.findIndex(({ type }) => type === "{") + 1, -1);
  try {
    for (const each of body) runBlock(each, scope, output, machine);
  } catch (error) {
    if (!(error instanceof Leave && error.how === "return")) throw error;
  }
  return output.length > 1 ? output : output[0];
}

function runCommand(command: Tree, scope: Scope, functions: Map<string, Tree>, machine: Machine): unknown {
  const parts = command.type === "command_name" ? [command] : command.children;
  const [name, elements] = parts[0]?.type === "command_invokation_operator" ? parts.slice(1) : parts;
  const words = (elements?.children ?? []).filter(({ type }) => type !== "command_argument_sep");
  const parameters = words.flatMap((each, index) => {
    const named = words[index - 1];
    // Parameters such as -Encoding do not affect the result.
    if (each.type === "command_parameter" || /^-(Error|Fore|Encoding|Version)/.test(named?.text ?? ""))
      return [];
    if (each.type === "argument_list")
      return [readArguments(each).map((one) => evaluate(one, scope, machine))];
    return [each.type === "generic_token" ? each.text : evaluate(each, scope, machine)];
  });
  if (name?.text === "New-Object") return create(toText(parameters[0]), parameters[1]);
  const definition = functions.get(name?.text ?? "");
  if (definition) return callFunction(definition, parameters, scope, machine);
  const known = machine.system?.commands[name?.text ?? ""];
  if (!known) throw new Error(`line ${command.line}: there is no ${name?.text}.`);
  return known(...parameters);
}

function create(type: string, parameters: unknown): unknown {
  if (type === "Collections.Hashtable") return new Hash(false);
  if (type.startsWith("Collections.Generic.List")) return new List();
  if (type === "char[]") return new Native({ Length: toNumber(parameters), text: "" });
  const given = Array.isArray(parameters) ? (parameters as unknown[]) : [];
  if (type === "Net.NetworkCredential") return new Native({ Password: given[1] });
  if (type === "IO.StreamReader" && given[0] instanceof Native) return given[0];
  return new Native({});
}

function runBlock(block: Tree, scope: Scope, output: unknown[], machine: Machine): void {
  const inside = block.type === "statement_block" ? block.children.slice(1, -1) : [block];
  for (const statement of inside.flatMap(statementsOf)) runStatement(statement, scope, output, machine);
}

function runStatement(statement: Tree, scope: Scope, output: unknown[], machine: Machine): void {
  const { children } = statement;
  const go = (tree: Tree | undefined) => evaluate(need(tree), scope, machine);
  switch (statement.type) {
    case "comment":
    case "empty_statement":
      return;
    case "assignment_expression": {
      const [target, operator, value] = children.map((each) => need(each));
      const given = go(value);
      const old = operator?.text === "=" ? undefined : go(target);
      assign(need(target), operator?.text === "=" ? given : plus(old, given), scope, machine);
      return;
    }
    case "post_increment_expression":
    case "post_decrement_expression": {
      const step = statement.type === "post_increment_expression" ? 1 : -1;
      assign(need(children[0]), toNumber(go(children[0])) + step, scope, machine);
      return;
    }
    case "if_statement":
      runIf(children, scope, output, machine);
      return;
    case "while_statement":
      repeat(() => isTrue(go(children[2])), need(children.at(-1)), scope, output, machine);
      return;
    case "for_statement": {
      const [first, , condition, , step] = children.slice(2).map((each) => need(each));
      runStatement(need(first), scope, output, machine);
      const next = () => runStatement(need(step), scope, output, machine);
      repeat(() => isTrue(go(condition)), need(children.at(-1)), scope, output, machine, next);
      return;
    }
    case "foreach_statement": {
      const items = enumerate(go(children[4])).values();
      const next = () => {
        const { done, value } = items.next();
        if (!done) scope.write(need(children[2]).text.slice(1), value);
        return !done;
      };
      repeat(next, need(children.at(-1)), scope, output, machine);
      return;
    }
    case "try_statement":
      runTry(children, scope, output, machine);
      return;
    case "flow_control_statement": {
      const how = need(children[0]).text;
      if (how === "throw") {
        const value = go(children[1]);
        throw value instanceof Native ? value.members["thrown"] : new Thrown(toText(value));
      }
      if (children[1]) output.push(...enumerate(go(children[1])));
      throw need(leaves.get(how));
    }
    case "break":
    case "continue":
    case "return":
      throw need(leaves.get(statement.type));
    default:
      output.push(...enumerate(go(statement)));
  }
}

/** Catches only `Thrown`, so that a StrictMode error fails the test. */
function runTry(children: Tree[], scope: Scope, output: unknown[], machine: Machine): void {
  const clauses = children
    .slice(2)
    .flatMap((each) => (each.type === "catch_clauses" ? each.children : [each]));
  const handler = clauses.find(({ type }) => type === "catch_clause");
  const last = clauses.find(({ type }) => type === "finally_clause");
  try {
    runBlock(need(children[1]), scope, output, machine);
  } catch (error) {
    if (!(error instanceof Thrown) || !handler) throw error;
    const exception = new Native({ Message: error.message, InnerException: error.inner });
    const place = new Native({ ScriptLineNumber: 0 });
    scope.write("_", new Native({ Exception: exception, InvocationInfo: place, thrown: error }));
    runBlock(need(handler.children.at(-1)), scope, output, machine);
  } finally {
    if (last) runBlock(need(last.children.at(-1)), scope, output, machine);
  }
}

function plus(old: unknown, given: unknown): unknown {
  return typeof old === "string" ? old + toText(given) : toNumber(old) + toNumber(given);
}

function runIf(children: Tree[], scope: Scope, output: unknown[], machine: Machine): void {
  if (isTrue(evaluate(need(children[2]), scope, machine))) {
    runBlock(need(children[4]), scope, output, machine);
    return;
  }
  const clauses = children
    .slice(5)
    .flatMap((each) => (each.type === "elseif_clauses" ? each.children : [each]));
  const chosen = clauses.find(
    (each) => each.type === "else_clause" || isTrue(evaluate(need(each.children[2]), scope, machine)),
  );
  if (chosen) runBlock(need(chosen.children.at(-1)), scope, output, machine);
}

function repeat(
  condition: () => boolean,
  body: Tree,
  scope: Scope,
  output: unknown[],
  machine: Machine,
  next: () => void = () => {},
): void {
  for (; condition(); next()) {
    try {
      runBlock(body, scope, output, machine);
    } catch (error) {
      if (!(error instanceof Leave) || error.how === "return") throw error;
      if (error.how === "break") return;
    }
  }
}
