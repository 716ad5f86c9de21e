import type { Config } from '../src/settings.js';
import { OPERATORS } from './operators.js';

/** The settings that audits look at. */
export const auditConfig = (own: Partial<Config> = {}): Config =>
  ({ CLOCK_REFUSE_MS: 10_000, OPERATORS, ...own }) as unknown as Config;
