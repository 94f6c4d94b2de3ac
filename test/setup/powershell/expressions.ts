import type { Machine } from "./machine.ts";
import type { Scope } from "./scope.ts";
import { callMethod, callStatic, readElement, readMember, readStatic } from "./members.ts";
import { readVerbatim, type Tree } from "./parse-powershell.ts";
import {
  Char,
  Hash,
  isTrue,
  List,
  Native,
  Pattern,
  toNumber,
  toRegExp,
  toStrings,
  toText,
} from "./values.ts";

/** Returns undefined for an expression without a value. */
export function evaluate(tree: Tree, scope: Scope, machine: Machine): unknown {
  const go = (child: Tree | undefined) => evaluate(need(child), scope, machine);
  const { children } = tree;
  // In argument lists, the grammar's names of expressions contain `_argument`.
  switch (tree.type.replace("_argument_expression", "_expression")) {
    case "decimal_integer_literal":
      return Number(tree.text);
    case "verbatim_string_characters":
      return readVerbatim(tree.text);
    case "variable":
      return readVariable(tree.text.slice(1), scope, machine);
    case "parenthesized_expression":
      return go(children[1]);
    case "array_expression":
      return children.length > 2 ? machine.collect(need(children[1]), scope) : [];
    case "command":
    case "command_name":
      return machine.runCommand(tree, scope);
    case "logical_expression": {
      const left = isTrue(go(children[0]));
      const isAnd = children[1]?.text === "-and";
      return left === isAnd ? isTrue(go(children[2])) : left;
    }
    case "array_literal_expression":
      return children.filter(({ type }) => type !== ",").map(go);
    case "bitwise_expression":
      return toNumber(go(children[0])) | toNumber(go(children[2]));
    case "comparison_expression":
      if (children[1]?.text === "-is" || children[1]?.text === "-isnot") {
        const value = go(children[0]);
        const isOne = value instanceof Native && value.kind === nameOfType(need(children[2]));
        return isOne === (children[1].text === "-is");
      }
      return compare(go(children[0]), need(children[1]).text, go(children[2]));
    case "additive_expression":
      return add(go(children[0]), need(children[1]).text, go(children[2]));
    case "expression_with_unary_operator": {
      const [operator, operand] = children;
      if (operator?.text === "-not") return !isTrue(go(operand));
      if (operator?.text === "-") return -toNumber(go(operand));
      break;
    }
    case "member_access":
      if (children[0]?.type === "type_literal") {
        const name = `${nameOfType(children[0])}::${need(children[2]).text}`;
        const known = machine.system?.statics[name];
        return known ? known() : readStatic(name);
      }
      return readMember(go(children[0]), need(children[2]).text);
    case "element_access":
      return readElement(go(children[0]), go(children[2]));
    case "invokation_expression": {
      const [object, , name, list] = children;
      const parameters = readArguments(need(list)).map(go);
      if (object?.type === "type_literal") {
        const full = `${nameOfType(object)}::${need(name).text}`;
        const known = machine.system?.statics[full];
        return known ? known(...parameters) : callStatic(full, parameters);
      }
      return callMethod(go(object), need(name).text, parameters);
    }
    case "cast_expression":
      return cast(nameOfType(need(children[0])), go(children[1]));
    case "hash_literal_expression": {
      const hash = new Hash(true);
      const body = need(children[1]);
      for (const entry of body.type === "hash_entry" ? [body] : body.children) {
        hash.members.set(need(entry.children[0]).text.toLowerCase(), go(entry.children[2]));
      }
      return hash;
    }
  }
  throw new Error(`line ${tree.line}: no ${tree.type} is known: ${tree.text}`);
}

export function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("The tree has another form than was thought.");
  return value;
}

function readVariable(name: string, scope: Scope, machine: Machine): unknown {
  const known = machine.system?.variable(name.toLowerCase());
  return known === undefined ? scope.read(name) : known;
}

export function readArguments({ children }: Tree): Tree[] {
  const [, inner] = children;
  if (children.length < 3 || !inner) return [];
  return inner.type === "argument_expression_list"
    ? inner.children.filter(({ type }) => type !== ",")
    : [inner];
}

function nameOfType(tree: Tree): string {
  return tree.text.slice(1, -1);
}

function cast(type: string, value: unknown): unknown {
  switch (type) {
    case "void":
      return undefined;
    case "string":
      return toText(value);
    case "char":
      return new Char(toNumber(value));
    case "regex":
      return new Pattern(toText(value));
    case "int":
      return toNumber(value);
    case "string[]":
      return value;
    case "byte[]":
      return new Uint8Array();
  }
  throw new Error(`No type ${type} is known.`);
}

function add(left: unknown, operator: string, right: unknown): unknown {
  if (operator === "+" && (typeof left === "string" || left instanceof Char))
    return toText(left) + toText(right);
  return operator === "+" ? toNumber(left) + toNumber(right) : toNumber(left) - toNumber(right);
}

function compare(left: unknown, operator: string, right: unknown): unknown {
  switch (operator) {
    case "-ceq":
      return comparable(left) === comparable(right);
    case "-cne":
      return comparable(left) !== comparable(right);
    case "-cmatch":
      return toRegExp(toText(right), "").test(toText(left));
    case "-creplace": {
      const [pattern, by] = toStrings(right);
      const inserted = (by ?? "").replaceAll("$0", "$$&");
      return toText(left).replaceAll(toRegExp(pattern ?? "", "g"), inserted);
    }
    case "-cnotmatch":
      return !toRegExp(toText(right), "").test(toText(left));
    case "-eq":
      return isNull(left) || isNull(right)
        ? isNull(left) === isNull(right)
        : toNumber(left) === toNumber(right);
    case "-ne":
      return !compare(left, "-eq", right);
    case "-lt":
      return toNumber(left) < toNumber(right);
    case "-le":
      return toNumber(left) <= toNumber(right);
    case "-gt":
      return toNumber(left) > toNumber(right);
    case "-ge":
      return toNumber(left) >= toNumber(right);
  }
  throw new Error(`No operator ${operator} is known.`);
}

function comparable(value: unknown): string {
  // eslint-disable-next-line no-control-regex
  return isNull(value) ? "no text" : toText(value).replaceAll(/[\0-\x08\x0e-\x1f\x7f-\x9f\xad]/g, "");
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined;
}

export function assign(target: Tree, value: unknown, scope: Scope, machine: Machine): void {
  const { children } = target;
  if (target.type === "variable") {
    scope.write(target.text.slice(1), value);
    return;
  }
  // Assigning a static .NET member, such as `SecurityProtocol`, has no effect here.
  if (children[0]?.type === "type_literal") return;
  const object = evaluate(need(children[0]), scope, machine);
  const index =
    target.type === "member_access" ? need(children[2]).text : evaluate(need(children[2]), scope, machine);
  if (object instanceof Hash) object.members.set(object.key(index), value);
  else if (object instanceof List) {
    readElement(object, index);
    object.items[toNumber(index)] = value;
  } else if (object instanceof Native && typeof index === "string") object.members[index] = value;
  else throw new Error(`line ${target.line}: nothing can be set there: ${target.text}`);
}
