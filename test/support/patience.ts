/**
 * Time limits that no pause of a slow or shared machine reaches: such a pause is no failure of the service. Every stack
 * that a test starts has them.
 */
export const PATIENT = {
  DATABASE_QUERY_TIMEOUT_MS: '60000',
  EVENT_STORE_TIMEOUT_MS: '40000',
  ENQUEUE_TIMEOUT_MS: '60000',
} as const;
