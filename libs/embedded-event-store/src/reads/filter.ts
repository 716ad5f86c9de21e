import type { StoredRecord } from '../log/record.js';

/** Whether an event matches. */
export type EventFilter = (record: StoredRecord) => boolean;

export interface FilterExpression {
  readonly on: 'stream' | 'type';
  /** Empty string for none. */
  readonly regex: string;
  readonly prefixes: readonly string[];
}

/** Raised for an unsupported expression; the message says why. */
export class UnsupportedFilterError extends Error {}

const MAX_PATTERN_LENGTH = 1_000;

/** .NET syntax that JavaScript does not support or interprets differently. */
const DOTNET_ONLY: readonly (readonly [RegExp, string])[] = [
  [/\\[AZzG]/, 'the anchors \\A, \\Z, \\z and \\G'],
  [/\(\?[imnsx-]+[:)]/, 'inline options such as (?i)'],
  [/\(\?>/, 'atomic groups'],
  [/\(\?#/, 'comments'],
  [/\(\?\(/, 'conditional groups'],
  [/\(\?'/, "groups named with quotes, (?'name'…)"],
  [/\[[^\]]*-\[/, 'class subtraction'],
];

/** A repeated group that contains a repetition or alternatives. Such patterns can backtrack without bound. */
const NESTED_REPETITION = /\((?:[^()\\]|\\.)*(?:[*+|]|\{\d+,\d*\})(?:[^()\\]|\\.)*\)(?:[*+]|\{\d+,\d*\})/;
const BACK_REFERENCE = /\\[1-9]|\\k</;

const compile = (pattern: string): RegExp => {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new UnsupportedFilterError(
      `The filter's pattern is longer than ${String(MAX_PATTERN_LENGTH)} characters.`,
    );
  }
  for (const [syntax, name] of DOTNET_ONLY) {
    if (syntax.test(pattern))
      throw new UnsupportedFilterError(`The filter's pattern uses ${name}, which is not supported.`);
  }
  if (BACK_REFERENCE.test(pattern) || NESTED_REPETITION.test(pattern)) {
    throw new UnsupportedFilterError(
      "The filter's pattern could take unbounded time: remove back references and repetitions within repeated groups.",
    );
  }
  try {
    return new RegExp(pattern, 'u');
  } catch (error) {
    throw new UnsupportedFilterError(`The filter's pattern is not supported: ${(error as Error).message}`);
  }
};

/**
 * Compiles the protocol's filter. A pattern matches anywhere in the name, as in .NET's Regex.IsMatch.
 * @throws {UnsupportedFilterError} for a pattern that JavaScript would run differently or without bound
 */
export const compileFilter = ({ on, regex, prefixes }: FilterExpression): EventFilter => {
  const value =
    on === 'stream' ? (record: StoredRecord) => record.stream : (record: StoredRecord) => record.type;
  if (prefixes.length > 0) {
    return (record) => {
      const text = value(record);
      return prefixes.some((prefix) => text.startsWith(prefix));
    };
  }
  const pattern = compile(regex);
  return (record) => pattern.test(value(record));
};
