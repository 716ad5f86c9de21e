import type { z } from 'zod';
import type { Logger } from 'pino';
import { createLogger } from '../telemetry/logger.js';
import type { Config } from './settings.js';

/** The configuration is unusable. The message names every variable at fault and never prints a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Settings = z.ZodObject<z.ZodRawShape>;

/** Reads and validates the environment. @throws ConfigError naming each variable and what it allows */
export const loadConfig = <Of extends Settings>(
  settings: Of,
  given: Readonly<Record<string, string | undefined>>,
): z.output<Of> => {
  // Compose files and shells pass unset variables as empty strings, and templates leave space.
  const environment = Object.fromEntries(Object.entries(given).filter(([, value]) => value?.trim() !== ''));
  const parsed = settings.safeParse(environment);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    // One that is not set may still be at fault beside another one.
    const isMissing = environment[name] === undefined && issue.code !== 'custom';
    return `  ${name}: ${isMissing ? 'is required' : issue.message} — ${describe(settings, name)}`;
  });
  throw new ConfigError(`The configuration cannot be used:\n${lines.join('\n')}`);
};

/** One line per variable for `--help`: name, description, default. */
export const configHelp = (settings: Settings): string =>
  Object.keys(settings.shape)
    .map((name) => `  ${name.padEnd(34)} ${describe(settings, name)}${defaultOf(settings, name)}`)
    .join('\n');

export const settingNames = (settings: Settings): readonly string[] => Object.keys(settings.shape);

const describe = ({ shape }: Settings, name: string): string =>
  (shape as Record<string, z.ZodType>)[name]?.description ?? '';

const defaultOf = ({ shape }: Settings, name: string): string => {
  const result = (shape as Record<string, z.ZodType>)[name]!.safeParse(undefined);
  if (!result.success) return ' [required]';
  const value = result.data;
  return Array.isArray(value) && value.length === 0 ? '' : ` [${shownValue(value)}]`;
};

/** A value as an environment variable gives it: lists with commas, codes as `<name>=<code>`. */
export const shownValue = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value)
        .map(([name, code]) => `${name}=${code}`)
        .join()
    : String(value);

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
