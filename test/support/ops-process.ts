import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { programPath } from '#platform/program-path.js';
import { askCompanion } from './companion.js';
import type { OpsAnswer } from './companion-server.js';

const LARGEST_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs the operator's commands in the companion, since loading the program takes longer than most commands. A command
 * during another one gets a process of its own, as on an operator's machine.
 */
export class OpsProcess {
  private running?: AbortController;

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Runs `ops <args>` with these additional settings. @returns its output and exit code */
  async run(args: readonly string[], settings: NodeJS.ProcessEnv = {}): Promise<OpsAnswer> {
    const environment = { ...this.environment, ...settings };
    if (this.running) return this.runApart(args, environment);
    this.running = new AbortController();
    try {
      return await askCompanion('/ops', { args, environment }, this.running.signal);
    } finally {
      this.running = undefined;
    }
  }

  /**
   * Runs `ops <args> --json` with these additional settings.
   * @returns its output
   * @throws Error with the command's own message when it fails
   */
  async json(args: readonly string[], settings?: NodeJS.ProcessEnv): Promise<unknown> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], settings);
    if (code === 0) return JSON.parse(stdout);
    // A command that found faults reports them in its output.
    const said = [stderr, stdout].map((text) => text.trim()).filter(Boolean);
    throw new Error(`ops ${args.join(' ')}: ${said.join('\n')}`);
  }

  /** Ends a command that still runs. */
  stop(): void {
    this.running?.abort();
  }

  private async runApart(args: readonly string[], env: NodeJS.ProcessEnv): Promise<OpsAnswer> {
    const main = programPath('ops');
    const options = { env, maxBuffer: LARGEST_OUTPUT_BYTES };
    try {
      return { code: 0, ...(await promisify(execFile)(process.execPath, [main, ...args], options)) };
    } catch (error) {
      return error as OpsAnswer;
    }
  }
}
