import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programPath } from '#platform/program-path.js';

/** A full rebuild takes minutes on a busy machine. */
const OPS_WITHIN_MS = 600_000;
const LARGEST_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs `ops <args>`, with the service's settings or DATA_DIR of a running stack. @returns its text
 * @throws Error with the command's own message
 */
export const ops = async (environment: NodeJS.ProcessEnv, args: readonly string[]): Promise<string> => {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [programPath('ops'), ...args], {
      env: environment,
      timeout: OPS_WITHIN_MS,
      maxBuffer: LARGEST_OUTPUT_BYTES,
    });
    return stdout;
  } catch (error) {
    const { stderr, stdout, message } = error as Error & { stderr?: string; stdout?: string };
    // A command that fails because of its findings prints them on standard output.
    const said = [stderr, stdout].map((text) => text?.trim()).filter(Boolean);
    throw new Error(`ops ${args.join(' ')}: ${said.join('\n') || message}`, { cause: error });
  }
};

export const opsJson = async (environment: NodeJS.ProcessEnv, args: readonly string[]): Promise<unknown> =>
  JSON.parse(await ops(environment, [...args, '--json']));
