import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '#platform/config/load-config.js';
import { dataDirOf } from '../../embedded/src/data-folder.js';
import { OpsError } from './ops-error.js';
import { settings, type Config } from '../../service/src/settings.js';

/**
 * Where the operator's commands connect: to the stores in the environment when DATABASE_URL is set, otherwise to the
 * embedded stack on DATA_DIR (default `.data`). That stack writes its connection data to `runtime.json`.
 * @throws OpsError
 */
export const readConnection = (environment: NodeJS.ProcessEnv): Config => {
  const given = environment['DATABASE_URL']
    ? environment
    : { ...readRuntimeFile(environment), ...environment };
  try {
    return loadConfig(settings, {
      // A person waits for the answer, so the time limit can be long.
      DATABASE_QUERY_TIMEOUT_MS: '10000',
      ...given,
      LOG_LEVEL: 'silent',
    });
  } catch (error) {
    if (error instanceof ConfigError) throw new OpsError(error.message);
    throw error;
  }
};

const readRuntimeFile = (environment: NodeJS.ProcessEnv): Record<string, string> => {
  const path = join(dataDirOf(environment), 'runtime.json');
  if (!existsSync(path)) {
    throw new OpsError(
      `No stack is running on ${path.replace(/runtime\.json$/, '')}: start it with npm start, set DATA_DIR to its folder, or set DATABASE_URL and EVENTSTORE_URL.`,
    );
  }
  const runtime = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(runtime).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};
