import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const READY_WITHIN_MS = 120_000;

/**
 * Runs work against an embedded stack of its own, on a free port and in a temporary folder.
 * @param work takes BASE_URL and API_KEY of the demo workspace
 */
export const withService = async (work) => {
  const folder = mkdtempSync(join(tmpdir(), 'generators-'));
  const stack = spawn(process.execPath, [join(root, 'dist/embedded.js')], {
    env: { ...process.env, DATA_DIR: folder, PORT: '0' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  stack.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  try {
    const until = Date.now() + READY_WITHIN_MS;
    const found = () => [/BASE_URL=(\S+)/.exec(printed)?.[1], /API_KEY=(ek_[\w-]+)/.exec(printed)?.[1]];
    while (found().includes(undefined)) {
      if (stack.exitCode !== null || Date.now() > until)
        throw new Error(`The service did not start:\n${printed}`);
      await sleep(100);
    }
    const [BASE_URL, API_KEY] = found();
    return await work({ BASE_URL, API_KEY });
  } finally {
    stack.kill('SIGTERM');
    if (stack.exitCode === null) await once(stack, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
};
