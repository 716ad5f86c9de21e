import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';

/** Runs the auditor's file in a folder of its own, as an auditor does. */
export const runVerifier = (folder: string, text: string, options: readonly string[] = [], env = {}) => {
  const file = join(folder, 'export.jsonl');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [projectPath('tools/verify-ledger.mjs'), file, '--json', ...options],
    { cwd: folder, encoding: 'utf8', env },
  );
  return { status, stderr, result: stdout === '' ? null : JSON.parse(stdout) };
};
