import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { describe } from '#event-sourcing/store/errors.js';

/**
 * Logs one JSON line per entry to standard output. Callers pass the ids of the work that a line is about, such as the
 * request's. They never pass names, dates of birth, gender or secrets. Errors lose what may repeat a row (`errorLine`).
 * @param to instead of standard output
 */
export const createLogger = (name: string, level: string, to?: DestinationStream): Logger =>
  pino(
    {
      name,
      level,
      redact: ['*.apiKey', '*.signingSecret', '*.authorization', 'headers'],
      serializers: { err: errorLine },
    },
    ...(to ? [to] : []),
  );

/** Sends Nest's own messages through the same logger; its start-up messages become debug. */
export const nestLogger = (logger: Logger): LoggerService => ({
  log: (message: unknown, context?: unknown) => logger.debug({ context }, String(message)),
  error: (message: unknown, trace?: unknown, context?: unknown) =>
    logger.error({ context, trace }, String(message)),
  warn: (message: unknown, context?: unknown) => logger.warn({ context }, String(message)),
});

/** An error as a line of the log has it. */
interface ErrorLine {
  readonly type: string;
  readonly message: string;
  /** The frames, and those of its causes. */
  readonly stack: string;
  /** Of the system or PostgreSQL. */
  readonly code?: string;
}

const MAX_CAUSES = 5;

/**
 * What a line of the log shows of an error: its name, message and code, where it was thrown, and its causes. Nothing of its
 * other members: those of PostgreSQL repeat the row that a statement could not write. Some of its messages repeat a value.
 * @returns anything else than an error by its type alone
 */
const errorLine = (error: unknown): ErrorLine => {
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
  for (let one = error; one instanceof Error && found.length < MAX_CAUSES; one = one.cause) found.push(one);
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
