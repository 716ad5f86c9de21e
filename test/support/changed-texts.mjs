/**
 * Preloaded into the processes of a stack by a test (`node --import`): while the file CHANGED_TEXTS_FILE exists, a
 * process that first loads the book finds another title in it. Stands for a release with corrected texts.
 */
import fs, { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const file = process.env['CHANGED_TEXTS_FILE'];
const [from, to] = (process.env['CHANGED_TEXTS'] ?? '').split('=>');

if (file && from && to) {
  const { readFileSync } = fs;
  fs.readFileSync = (path, ...options) => {
    const found = readFileSync(path, ...options);
    return /[/\\]content[/\\].+[.]yaml$/.test(String(path)) && existsSync(file)
      ? String(found).replaceAll(from, to)
      : found;
  };
  syncBuiltinESMExports();
}
