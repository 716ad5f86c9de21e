import type { StoredRecord } from '../log/record.js';

/** Whether an event matches. */
export type EventFilter = (record: StoredRecord) => boolean;

export interface FilterExpression {
  readonly on: 'stream' | 'type';
  /** Empty string for none. */
  readonly regex: string;
  readonly prefixes: readonly string[];
}

/**
 * Compiles the protocol's filter. A pattern matches anywhere in the name, as in .NET's Regex.IsMatch.
 * @throws {SyntaxError} for a pattern that is not one of JavaScript's
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
  const pattern = new RegExp(regex, 'u');
  return (record) => pattern.test(value(record));
};
