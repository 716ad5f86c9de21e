import { spawn } from 'node:child_process';
import { UnusableDataError } from '../log/environment.js';
import { dataFileOf } from '../log/log-store.js';
import type { Verification } from './verify.js';

/** Set in the process that really verifies. */
export const VERIFYING = 'EMBEDDED_EVENT_STORE_VERIFYING';

/**
 * Like `verifyFolder`, in a process of its own: LMDB maps the file into memory, and damaged page links can end the
 * process that follows them. Such an end is a finding.
 * @param program path of this library's program
 * @throws {UnusableDataError} when the folder has no store of this format
 */
export const verifyApart = async (program: string, folder: string): Promise<Verification> => {
  const child = spawn(process.execPath, [program, 'verify', '--data', folder, '--json'], {
    env: { ...process.env, [VERIFYING]: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, said] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const ended = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_, killedBy) => resolve(killedBy));
  });
  if (ended !== null) {
    const finding = `The data file ${dataFileOf(folder)} is damaged: reading it ended the process with ${ended}.`;
    return { events: 0, streams: 0, findings: 1, listed: [finding] };
  }
  if (output === '') throw new UnusableDataError(said.trim().split('\n').at(-1) ?? 'The check did not run.');
  return JSON.parse(output) as Verification;
};
