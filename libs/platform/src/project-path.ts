import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const findRoot = (from: string): string => {
  if (existsSync(join(from, 'package.json'))) return from;
  const parent = dirname(from);
  if (parent === from)
    throw new Error('No package.json above the running code: the installation is incomplete.');
  return findRoot(parent);
};

const root = findRoot(dirname(fileURLToPath(import.meta.url)));

/**
 * Absolute path of a file that ships with the project (SQL, content, fonts, compiled entry files). Works the same from
 * the sources (tests) and from `dist`, because assets are never copied.
 */
export const projectPath = (...segments: string[]): string => join(root, ...segments);
