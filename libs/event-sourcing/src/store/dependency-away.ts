import { ClockUntrusted } from '../core/trusted-clock.js';
import { StoreUnavailable } from './errors.js';

/**
 * SQLSTATE classes and socket errors of a database that is unavailable, starts, stops, timed out, or lost a race. Also
 * of one whose table, column or schema is missing, or whose rights are (42P01, 42703, 3F000, 42501): an operator restores
 * them, and until then nobody may move past work that was not written.
 */
const AWAY_CODES =
  /^(08|57|58|53|25006|40001|40P01|42P01|42703|3F000|42501|55P03|ECONN|EPIPE|ETIMEDOUT|ENOENT|EAI_AGAIN)/;
const AWAY_MESSAGES =
  /connection terminated|query read timeout|not queryable|timeout exceeded when trying to connect|connection error|cannot use a pool after/i;

/** True when the event store, PostgreSQL or a clock is at fault, not the request: the same work may succeed later. */
export const isDependencyAway = (error: unknown): boolean => {
  if (error instanceof StoreUnavailable || error instanceof ClockUntrusted) return true;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && AWAY_CODES.test(code)) return true;
  return typeof message === 'string' && AWAY_MESSAGES.test(message);
};
