import 'reflect-metadata';
import { run } from '../../apps/ops/src/run.js';

/** A command line, and its environment. */
export interface OpsRequest {
  readonly args: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

export interface OpsAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Captures a command's output instead of a terminal. */
const captured = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr'] as const) {
  process[name].write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    captured[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const written = rest.find((one): one is () => void => typeof one === 'function');
    written?.();
    return true;
  };
}

/** Runs the operator's commands one after the other, so that their program is loaded only once. */
process.on('message', ({ args, environment }: OpsRequest) => {
  process.env = { ...environment };
  Object.assign(captured, { stdout: '', stderr: '' });
  void run(args).then((code) => process.send!({ code, ...captured } satisfies OpsAnswer));
});
process.once('disconnect', () => process.exit());
