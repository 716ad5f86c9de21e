import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';

/** Compiled when this runs compiled. */
const libraries = projectPath(import.meta.url.includes('/dist/') ? 'dist/libs' : 'libs');

/**
 * Identifies a build of the program: SHA-256, in lowercase hex, of the code of all libraries and of `package.json`,
 * which pins their dependencies. It covers all code, because any helper may influence a row.
 */
export const programFingerprint = (): string => {
  const hash = createHash('sha256').update(readFileSync(projectPath('package.json')));
  const files = readdirSync(libraries, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(js|ts)$/.test(name),
  );
  for (const name of files.toSorted()) hash.update(`\n${name}\n`).update(readFileSync(join(libraries, name)));
  return hash.digest('hex');
};
