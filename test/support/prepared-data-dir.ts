import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectPath } from '#platform/project-path.js';
import {
  openDataFolder,
  type DataFolder,
  readJson,
  writePrivateJson,
} from '../../apps/embedded/src/data-folder.js';
import { databaseAccount, databaseHome } from '../../apps/embedded/src/postgres.js';
import { ProcessRecord } from '../../apps/embedded/src/processes.js';
import { loadSecrets } from '../../apps/embedded/src/secrets.js';
import { removeDataFolder, temporaryDataDir } from './data-dir.js';

const TEMPLATES = projectPath('.cache', 'test-databases');
const STOP_WITHIN_MS = 10_000;

/**
 * A new DATA_DIR with a copy of a migrated database, which is much faster than migrating a new one. The stack still
 * checks for migrations. Specs of a first start use {@link temporaryDataDir}.
 */
export const preparedDataDir = async (): Promise<string> => {
  const template = await databaseTemplate();
  const folder = openDataFolder(temporaryDataDir());
  writePrivateJson(folder.secrets, { ...loadSecrets(folder), ...passwordOf(template) });
  const home = databaseHome(folder.postgres, databaseAccount());
  await copy(join(template, 'cluster'), join(home, 'cluster'));
  return folder.path;
};

/** @returns the folder of the template, created on first use. */
const databaseTemplate = async (): Promise<string> => {
  const template = join(TEMPLATES, fingerprint());
  if (existsSync(template)) return template;
  mkdirSync(TEMPLATES, { recursive: true });
  const draft = mkdtempSync(join(TEMPLATES, 'draft-'));
  const folder = openDataFolder(temporaryDataDir());
  try {
    await stoppedDatabase(folder);
    await copy(join(folder.postgres, 'cluster'), join(draft, 'cluster'));
    writePrivateJson(join(draft, 'password.json'), passwordOf(folder.secrets));
    // Another worker of the test runner may have been faster.
    if (!existsSync(template)) renameSync(draft, template);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    removeDataFolder(folder.path);
  }
  return template;
};

/** Everything that determines the contents of an empty database. */
const fingerprint = (): string => {
  const hash = createHash('sha256').update(readFileSync(projectPath('package-lock.json')));
  const files = ['libs', 'apps/embedded'].flatMap((folder) =>
    readdirSync(projectPath(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /(^|\/)(migrations|postgres)\//.test(name) && /[.](ts|js|sql)$/.test(name))
      .map((name) => projectPath(folder, name)),
  );
  for (const file of files.toSorted()) hash.update(file).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
};

const stoppedDatabase = async (folder: DataFolder): Promise<void> => {
  const { startPostgres } = await import('../../apps/embedded/src/postgres.js');
  const { supervisor } = await startPostgres(
    folder,
    loadSecrets(folder).POSTGRES_PASSWORD,
    new ProcessRecord(folder.processes),
    { say: () => undefined, onRestart: () => undefined, onGivenUp: () => undefined },
    () => undefined,
  );
  await supervisor.stop(STOP_WITHIN_MS);
};

const passwordOf = (path: string): { POSTGRES_PASSWORD: string } => {
  const file = path.endsWith('.json') ? path : join(path, 'password.json');
  const { POSTGRES_PASSWORD } = readJson(file) as { POSTGRES_PASSWORD: string };
  return { POSTGRES_PASSWORD };
};

/** Copies with owners and modes: when root runs the tests, the server runs as another user. */
const copy = async (from: string, to: string): Promise<void> => {
  await promisify(execFile)('cp', ['-a', from, to]);
};
