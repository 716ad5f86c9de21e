import { PROBE_AFTER_FAILURES } from '../../domain/delivery/attempt-result.js';

/**
 * SQL: when a delivery may go that is due at `dueAt`. An endpoint that keeps failing is sent nothing before its probe.
 * Asks for the endpoint's health as `health`.
 */
export const freeAt = (dueAt: string): string => `
  case when health.consecutive_failures >= ${PROBE_AFTER_FAILURES} and ${dueAt} is not null
       then greatest(${dueAt}, health.probe_at) else ${dueAt} end`;
