import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectPath } from '#platform/project-path.js';

const BUILDS = projectPath('.cache', 'previous-builds');
const run = promisify(execFile);

/** Runs a command in that folder, without what is set for Jest. */
const inside = async (folder: string, command: string, ...args: readonly string[]): Promise<void> => {
  const { NODE_OPTIONS: _, ...env } = process.env;
  await run(command, args, { cwd: folder, env, maxBuffer: 100_000_000 });
};

/** Nobody runs a version before it. */
const FIRST_RELEASE = 'v1.0.0';

/**
 * The commit before the newest migration was added: the newest version whose tables differ from ours.
 * @returns `null` when that is before the first release, or without tags and history, as in an archive of the sources
 */
export const previousVersion = (): string | null => {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', projectPath('.'), ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
  try {
    const added = git('log', '-1', '--diff-filter=A', '--format=%H', '--', 'libs/*/migrations/*.sql');
    git('merge-base', '--is-ancestor', FIRST_RELEASE, `${added}^`);
    return git('rev-parse', '--verify', `${added}^`);
  } catch {
    return null;
  }
};

/** Builds a version in a folder of its own, once. @returns that folder, with `dist/` and `libs/` */
export const buildOf = async (version: string): Promise<string> => {
  const folder = join(BUILDS, version);
  if (existsSync(folder)) return folder;
  mkdirSync(BUILDS, { recursive: true });
  const draft = mkdtempSync(join(BUILDS, 'draft-'));
  const archive = `${draft}.tar`;
  await run('git', ['-C', projectPath('.'), 'archive', '--output', archive, version]);
  await run('tar', ['-xf', archive, '-C', draft]);
  rmSync(archive);
  const lockOf = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lockOf(draft) === lockOf(projectPath('.')))
    symlinkSync(projectPath('node_modules'), join(draft, 'node_modules'));
  else await inside(draft, 'npm', 'ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund');
  await inside(draft, process.execPath, 'tools/build.mjs');
  renameSync(draft, folder);
  return folder;
};
