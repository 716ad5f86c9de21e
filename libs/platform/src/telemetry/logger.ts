import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';

/**
 * Logs one JSON line per entry to standard output. Callers pass the ids of the work that a line is about, such as the
 * request's. They never pass names, dates of birth, gender or secrets.
 */
export const createLogger = (name: string, level: string): Logger =>
  pino({
    name,
    level,
    redact: ['*.apiKey', '*.signingSecret', '*.authorization', 'headers'],
  });

/** Sends Nest's own messages through the same logger; its start-up messages become debug. */
export const nestLogger = (logger: Logger): LoggerService => ({
  log: (message: unknown, context?: unknown) => logger.debug({ context }, String(message)),
  error: (message: unknown, trace?: unknown, context?: unknown) =>
    logger.error({ context, trace }, String(message)),
  warn: (message: unknown, context?: unknown) => logger.warn({ context }, String(message)),
});
