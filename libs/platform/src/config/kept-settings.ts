import { count, days, milliseconds } from './setting.js';

/** How the service records who asked for what. */
export const auditSettings = {
  AUDIT_RETENTION_DAYS: days(400, 'how long audit records are kept (days)'),
  AUDIT_FLUSH_MS: milliseconds(
    250,
    'how often audit records are written; a killed process loses the records of this interval',
  ),
  AUDIT_BUFFER_RECORDS: count(
    10_000,
    'audit records a process buffers while PostgreSQL is unavailable (about 500 bytes each); beyond that, reads of personal data get 503 and other requests are not recorded',
  ),
  AUDIT_REFUSED_ROWS_PER_MINUTE: count(
    1_000,
    'audit records of refused requests a process writes per minute for each kind: known callers, 401, other refusals of unknown callers, refusals at the door; beyond that, they are only counted',
  ),
};

export const testDataSettings = {
  TEST_DATA_KEPT_DAYS: days(
    30,
    'how long test readings, their documents, events and deliveries are kept (days)',
  ),
};
