import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';
import { databaseAccount } from './account.js';
import { findBinaries, LOCALE_ARGUMENTS } from './server.js';

const compose = parse(readFileSync(projectPath('docker-compose.yml'), 'utf8'));
const composeArguments: string = compose.services.postgres.environment.POSTGRES_INITDB_ARGS;

it('compose and docs make clusters with the arguments of the embedded stack', () => {
  expect(composeArguments.split(' ')).toEqual(LOCALE_ARGUMENTS);
  expect(readFileSync(projectPath('docs', 'operations.md'), 'utf8')).toContain(LOCALE_ARGUMENTS.join(' '));
});

it.each([
  ['no locale', {}],
  ['the locale of PostgreSQL’s image', { LANG: 'en_US.utf8' }],
])('initdb makes a cluster with compose’s arguments on a machine with %s', (_, env) => {
  const account = databaseAccount();
  const home = mkdtempSync(join(tmpdir(), 'reading-service-initdb-'));
  try {
    if (account) chownSync(home, account.uid, account.gid);
    const { initdb } = findBinaries(home, account);
    const { status, stderr } = spawnSync(
      initdb,
      [`--pgdata=${join(home, 'cluster')}`, '--no-sync', ...composeArguments.split(' ')],
      { ...account, cwd: '/', env, encoding: 'utf8' },
    );
    expect(stderr).not.toContain('initdb: error');
    expect(status).toBe(0);
  } finally {
    rmSync(home, { recursive: true });
  }
});
