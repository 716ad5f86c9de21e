import { describe } from '#event-sourcing/store/errors.js';

/** An error as a line of the log has it. */
export interface ErrorLine {
  readonly type: string;
  readonly message: string;
  /** The frames, and those of its causes. */
  readonly stack: string;
  /** Of the system or PostgreSQL. */
  readonly code?: string;
}

const MOST_CAUSES = 5;

/**
 * What a line of the log shows of an error: its name, message and code, where it was thrown, and its causes. Nothing of its
 * other members: those of PostgreSQL repeat the row that a statement could not write. Some of its messages repeat a value.
 * @returns anything else than an error by its type alone
 */
export const errorLine = (error: unknown): ErrorLine => {
  const all = causesOf(error);
  const [first] = all;
  if (!first) return { type: typeof error, message: 'not an error', stack: '' };
  const { code } = first as Error & { readonly code?: unknown };
  return {
    type: first.name,
    message: all.map(messageOf).join(': '),
    stack: all.map(stackOf).join('\ncaused by: '),
    ...(typeof code === 'string' && { code }),
  };
};

const causesOf = (error: unknown): readonly Error[] => {
  const found: Error[] = [];
  for (let one = error; one instanceof Error && found.length < MOST_CAUSES; one = one.cause) found.push(one);
  return found;
};

/** Classes of SQLSTATE whose messages repeat a value: data exceptions, and what functions raise. */
const WITH_VALUES = /^(22|P0)/;

const messageOf = (error: Error): string => {
  const { severity, code } = error as Error & { readonly severity?: unknown; readonly code?: unknown };
  const mayRepeat = typeof severity === 'string' && WITH_VALUES.test(String(code));
  return mayRepeat ? describe(error) : error.message;
};

/** V8 begins a stack with the name and the message. */
const stackOf = (error: Error): string => {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return [`${error.name}: ${messageOf(error)}`, ...frames].join('\n');
};
