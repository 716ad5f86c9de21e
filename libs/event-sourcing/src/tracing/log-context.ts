import { AsyncLocalStorage } from 'node:async_hooks';

/** Ids that every log line has while the work runs. Never personal data. */
export interface LogContext {
  /** Id of the request that the work follows from: the correlation id of its events. */
  readonly requestId?: string;
  readonly readingId?: string;
}

const contexts = new AsyncLocalStorage<LogContext>();

/** Runs work whose log lines have these ids, at any depth. */
export const withLogContext = <T>(context: LogContext, work: () => T): T => contexts.run(context, work);

/** The ids of the running work. */
export const logContext = (): LogContext => contexts.getStore() ?? {};
