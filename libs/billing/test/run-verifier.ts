import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';

/**
 * Runs the auditor's file in a folder of its own, as an auditor does.
 * @param text an export; `null`: none
 * @returns with the last of its answers
 */
export const runVerifier = (
  folder: string,
  text: string | null,
  options: readonly string[] = [],
  env = {},
) => {
  const file = join(folder, 'export.jsonl');
  if (text !== null) writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [projectPath('tools/verify-ledger.mjs'), ...(text === null ? [] : [file]), '--json', ...options],
    { cwd: folder, encoding: 'utf8', env },
  );
  const answer = stdout.trim().split('\n').at(-1);
  return { status, stderr, result: answer ? JSON.parse(answer) : null };
};
