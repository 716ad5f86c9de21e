import { stringify } from 'yaml';
import type { Value } from './parse-template.js';

type Dict = Readonly<Record<string, Value>>;

export const isDict = (value: Value): value is Dict =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Go's notion of truth: false, zero, nil and what is empty are false. */
export const isTrue = (value: Value): boolean =>
  Array.isArray(value) ? value.length > 0 : isDict(value) ? Object.keys(value).length > 0 : Boolean(value);

/** As Helm prints a value. @throws Error for nil, and for numbers that Go prints with an exponent */
export const printed = (value: Value): string => {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  throw new Error(`the chart prints ${JSON.stringify(value) ?? 'a value that is not there'}`);
};

const dict = (...pairs: readonly Value[]): Dict =>
  Object.fromEntries(pairs.flatMap((key, n) => (n % 2 === 0 ? [[printed(key), pairs[n + 1]]] : [])));

/** The later one wins; dictionaries are merged, lists replaced. */
export const merged = (into: Value, from: Value): Value =>
  isDict(into) && isDict(from)
    ? {
        ...into,
        ...Object.fromEntries(Object.entries(from).map(([key, value]) => [key, merged(into[key], value)])),
      }
    : from;

const indented = (count: Value, text: Value): string =>
  printed(text).replaceAll(/^/gm, ' '.repeat(Number(count)));

const formatted = (format: Value, ...given: readonly Value[]): string => {
  const rest = [...given];
  const text = printed(format).replaceAll('%s', () => printed(rest.shift()));
  if (rest.length > 0 || text.includes('%')) throw new Error(`printf knows only %s: ${printed(format)}`);
  return text;
};

/** The functions of Go's templates, sprig and Helm that the chart uses. `and` and `or` are the evaluator's. */
export const FUNCTIONS: Readonly<Record<string, (...given: readonly never[]) => Value>> = {
  concat: (...lists: readonly (readonly Value[])[]) => lists.flat(1),
  default: (byDefault: Value, value: Value) => (isTrue(value) ? value : byDefault),
  dict,
  eq: (one: Value, other: Value) => one === other,
  fail: (why: Value) => {
    throw new Error(printed(why));
  },
  has: (value: Value, list: readonly Value[]) => list.includes(value),
  hasKey: (of: Dict, key: string) => Object.hasOwn(of, key),
  indent: indented,
  int: (value: Value) => Math.trunc(Number(value)),
  join: (by: string, list: readonly Value[]) => list.map(printed).join(by),
  list: (...values: readonly Value[]) => values,
  mergeOverwrite: (...dicts: readonly Dict[]) => dicts.reduce<Value>(merged, {}),
  nindent: (count: Value, text: Value) => `\n${indented(count, text)}`,
  not: (value: Value) => !isTrue(value),
  printf: formatted,
  quote: (value: Value) => JSON.stringify(printed(value)),
  // YAML 1.1, which Kubernetes reads, quotes more strings.
  toYaml: (value: Value) => stringify(value, { version: '1.1', lineWidth: 0 }).trimEnd(),
  trimSuffix: (suffix: string, text: string) =>
    text.endsWith(suffix) ? text.slice(0, -suffix.length) : text,
  trunc: (length: number, text: string) => text.slice(0, length),
};
