import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { programPath } from '@app/platform/program-path.js';
import { projectPath } from '@app/platform/project-path.js';
import type { OpsAnswer, OpsRequest } from './ops-server.js';

const LARGEST_OUTPUT_BYTES = 64 * 1024 * 1024;

/**
 * Runs the operator's commands in one long-lived process, since loading the program takes longer than most commands. A
 * command during another one gets a process of its own, as on an operator's machine.
 */
export class OpsProcess {
  private child?: ChildProcess;
  private isBusy = false;

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  /** Runs `ops <args>` with these additional settings. @returns its output and exit code */
  async run(args: readonly string[], settings: NodeJS.ProcessEnv = {}): Promise<OpsAnswer> {
    const environment = { ...this.environment, ...settings };
    // The offline verifier is a separate program, which prints to the terminal itself.
    if (this.isBusy || args.includes('verify-file')) return this.runApart(args, environment);
    this.isBusy = true;
    const ended = new AbortController();
    try {
      this.child ??= fork(projectPath('dist/ops-server.js'), { execArgv: [] });
      const { child } = this;
      const answer = Promise.race([
        once(child, 'message', { signal: ended.signal }).then(([message]) => message as OpsAnswer),
        once(child, 'exit', { signal: ended.signal }).then(() => Promise.reject(new Error('ops ended'))),
      ]);
      child.send({ args, environment } satisfies OpsRequest);
      return await answer;
    } finally {
      ended.abort();
      this.isBusy = false;
    }
  }

  /** Runs `ops <args> --json`. @returns its output @throws Error with the command's own message when it fails */
  async json(args: readonly string[]): Promise<unknown> {
    const { code, stdout, stderr } = await this.run([...args, '--json']);
    if (code === 0) return JSON.parse(stdout);
    // A command that found faults reports them in its output.
    const said = [stderr, stdout].map((text) => text.trim()).filter(Boolean);
    throw new Error(`ops ${args.join(' ')}: ${said.join('\n')}`);
  }

  stop(): void {
    this.child?.disconnect();
    this.child = undefined;
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
