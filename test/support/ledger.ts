import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { projectPath } from '@app/platform/project-path.js';
import type { StartedStack } from './start-stack.js';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Finance's commands on a stack: `ledger` ends with what was printed, `json` with what `--json` says and the exit code. */
export const ledgerOf = (stack: () => StartedStack) => {
  const ledger = async (...args: string[]): Promise<Ended> => {
    try {
      const { stdout, stderr } = await promisify(execFile)(
        process.execPath,
        [projectPath('dist/apps/ops/src/main.js'), 'ledger', ...args],
        { env: { ...process.env, DATA_DIR: stack().dataDir } },
      );
      return { code: 0, stdout, stderr };
    } catch (error) {
      return error as Ended;
    }
  };
  const json = async (...args: string[]) => {
    const { code, stdout } = await ledger(...args, '--json');
    return { code, ...JSON.parse(stdout) };
  };
  return { ledger, json };
};
