import type { Logger } from 'pino';
import { createLogger } from '../telemetry/logger.js';
import { ConfigError, loadConfig } from './load-config.js';
import type { Config } from './settings.js';

/** Reads the configuration and makes the logger; says on standard error what is wrong with it and exits 1. */
export const startUp = (name: string, environment: NodeJS.ProcessEnv): { config: Config; log: Logger } => {
  try {
    const config = loadConfig(environment);
    return { config, log: createLogger(name, config.LOG_LEVEL) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
};
