import { rmSync } from 'node:fs';
import { writePrivateFile, writePrivateJsonIfRoom } from './private-file.js';

/** How to reach a running stack. `ops` and other tools read it from `DATA_DIR/runtime.json`. */
export interface Runtime {
  readonly baseUrl: string;
  /** Process ids by name: `main`, `postgres`, `event-store`, `api`, `worker`. */
  readonly pids: Readonly<Record<string, number>>;
  /** RFC 3339. */
  readonly startedAt: string;
  /** All settings of the children, by environment variable. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Writes the settings at the top level, as in an environment, next to the other members. @returns whether there was room */
export const writeRuntimeFile = (path: string, { environment, ...runtime }: Runtime): boolean =>
  writePrivateJsonIfRoom(path, { ...runtime, ...environment });

/** Writes settings as Node's `--env-file` reads them. No value has a single quote. */
export const writeEnvironmentFile = (path: string, environment: Readonly<Record<string, string>>): void =>
  writePrivateFile(
    path,
    Object.entries(environment)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
  );

export const removeRuntimeFile = (path: string): void => rmSync(path, { force: true });
