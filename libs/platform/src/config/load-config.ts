import type { z } from 'zod';
import { settings, type Config } from './settings.js';

/** Configuration that cannot be used. Its message names every variable at fault, and never prints a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads and validates the environment. @throws ConfigError naming each variable and what it allows */
export const loadConfig = (given: Readonly<Record<string, string | undefined>>): Config => {
  // Compose files and shells pass on what is not set as an empty string.
  const environment = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  const parsed = settings.safeParse(environment);
  if (parsed.success) return complete(parsed.data);
  const lines = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    return `  ${name}: ${environment[name] === undefined ? 'is required' : issue.message} — ${describe(name)}`;
  });
  throw new ConfigError(`The configuration cannot be used:\n${lines.join('\n')}`);
};

/** What one setting asks of another. */
const complete = (config: Config): Config => {
  const missing = [
    config.KEY_PROVIDER === 'file' && !config.KEY_DIRECTORY && 'KEY_DIRECTORY',
    config.KEY_PROVIDER === 'vault' && !config.KEY_VAULT_URL && 'KEY_VAULT_URL',
    config.KEY_VAULT_URL && !config.KEY_VAULT_TOKEN && !config.KEY_VAULT_TOKEN_FILE && 'KEY_VAULT_TOKEN_FILE',
  ].filter((name) => typeof name === 'string');
  if (missing.length === 0) return config;
  const lines = missing.map((name) => `  ${name}: is required — ${describe(name)}`);
  throw new ConfigError(`The configuration cannot be used:\n${lines.join('\n')}`);
};

/** One line per variable for `--help`: name, what it is, default. */
export const configHelp = (): string =>
  Object.keys(settings.shape)
    .map((name) => `  ${name.padEnd(34)} ${describe(name)}${defaultOf(name)}`)
    .join('\n');

export const settingNames = (): readonly string[] => Object.keys(settings.shape);

const describe = (name: string): string =>
  (settings.shape as Record<string, z.ZodType>)[name]?.description ?? '';

const defaultOf = (name: string): string => {
  const result = (settings.shape as Record<string, z.ZodType>)[name]!.safeParse(undefined);
  if (!result.success) return ' [required]';
  const value = result.data;
  return Array.isArray(value) && value.length === 0 ? '' : ` [${String(value)}]`;
};
