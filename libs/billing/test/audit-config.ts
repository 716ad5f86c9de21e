import type { Config } from '../src/settings.js';

/** The settings that audits look at while they read in one thread. */
export const auditConfig = (own: Partial<Config> = {}): Config =>
  ({ CLOCK_REFUSE_MS: 10_000, OPERATOR_ROOT_KEYS: [], ...own }) as unknown as Config;
