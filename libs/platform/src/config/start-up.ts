import type { Logger } from 'pino';
import { createLogger } from '../telemetry/logger.js';
import { ConfigError } from './load-config.js';
import type { Config } from './settings.js';

/**
 * Reads the configuration and creates the logger. If the configuration is unusable, prints why to standard error and
 * exits 1.
 */
export const startUp = <Of extends Pick<Config, 'LOG_LEVEL'>>(
  name: string,
  load: () => Of,
): { config: Of; log: Logger } => {
  try {
    const config = load();
    return { config, log: createLogger(name, config.LOG_LEVEL) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
};
