import { settings as platform } from '#platform/config/settings.js';
import { settings as readings } from '#readings/settings.js';
import { PATIENT } from './patience.js';

const SETTINGS = { ...platform.shape, ...readings };

/** The limits that the service has by default, for tests of what happens when a store does not answer. */
export const DEFAULT_LIMITS: Readonly<Record<string, string>> = Object.fromEntries(
  (Object.keys(PATIENT) as (keyof typeof PATIENT)[]).map((name) => [
    name,
    String(SETTINGS[name].parse(undefined)),
  ]),
);
