import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { errorLine } from './error-line.js';

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
