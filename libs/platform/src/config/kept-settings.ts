import { days } from './setting.js';

/** How long what grows without end is kept. */
export const keptSettings = {
  AUDIT_RETENTION_DAYS: days(400, 'how long audit records are kept (days)'),
  TEST_DATA_KEPT_DAYS: days(
    30,
    'how long test readings, their documents, events and deliveries are kept (days)',
  ),
};
