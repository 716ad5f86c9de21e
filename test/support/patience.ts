import { settings as platform } from '@app/platform/config/settings.js';
import { settings as readings } from '@app/readings/settings.js';

/**
 * Time limits that no pause of a slow or shared machine reaches: such a pause is no failure of the service. Every stack
 * that a test starts has them.
 */
export const PATIENT = {
  DATABASE_CONNECT_TIMEOUT_MS: '60000',
  DATABASE_QUERY_TIMEOUT_MS: '60000',
  EVENT_STORE_APPEND_TIMEOUT_MS: '20000',
  EVENT_STORE_READ_TIMEOUT_MS: '20000',
  ENQUEUE_TIMEOUT_MS: '60000',
} as const;

const SETTINGS = { ...platform.shape, ...readings };

/** The limits that the service has by default, for tests of what happens when a store does not answer. */
export const DEFAULT_LIMITS: Readonly<Record<string, string>> = Object.fromEntries(
  (Object.keys(PATIENT) as (keyof typeof PATIENT)[]).map((name) => [
    name,
    String(SETTINGS[name].parse(undefined)),
  ]),
);
