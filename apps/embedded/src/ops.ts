import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { projectPath } from '@app/platform/project-path.js';

const OPS_WITHIN_MS = 30_000;

/**
 * Runs an operator command, `ops <args> --json`, and returns what it prints, parsed.
 * @param environment the service's settings, or DATA_DIR of a running stack
 * @throws Error with the command's own message when it fails
 */
export const runOps = async (environment: NodeJS.ProcessEnv, args: readonly string[]): Promise<unknown> => {
  try {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [projectPath('dist/apps/ops/src/main.js'), ...args, '--json'],
      { env: environment, timeout: OPS_WITHIN_MS, maxBuffer: 64 * 1024 * 1024 },
    );
    return JSON.parse(stdout);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new Error(`ops ${args.join(' ')}: ${stderr?.trim() || message}`);
  }
};
