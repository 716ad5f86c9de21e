import { StoreDamaged, isAccessDenied } from '../store/errors.js';

/** PostgreSQL names a table, column or right in the messages of these, and no value. */
const WITHOUT_VALUES = /^(42P01|42703|3F000|42501)$/;

/** Describes an error for logs and tables. Leaves out PostgreSQL's message where it may contain the values of a row. */
export const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code, severity, schema, table, constraint } = error as Error & Readonly<Record<string, unknown>>;
  if (typeof severity !== 'string') return `${error.name}: ${error.message}`;
  if (WITHOUT_VALUES.test(String(code))) return `SQLSTATE ${String(code)}: ${error.message}`;
  const where = [schema, table, constraint].filter((part) => typeof part === 'string').join('.');
  return `SQLSTATE ${String(code)}${where && ` at ${where}`}`;
};

/** SQLSTATE classes that depend on the row: data, constraints, program limits, and errors that functions raise. */
const ABOUT_THE_ROW = /^(22|23|54|P0)/;

/**
 * Whether an event may be at fault, and not a store: a missing table or right would fail for every event, and damage
 * waits for a backup. The caller has already excluded a dependency that is away.
 */
export const isEventsFault = (error: unknown): boolean => {
  if (error instanceof StoreDamaged || isAccessDenied(error)) return false;
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof severity !== 'string' || (typeof code === 'string' && ABOUT_THE_ROW.test(code));
};
