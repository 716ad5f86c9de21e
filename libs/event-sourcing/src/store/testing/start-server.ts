import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../../../dist/embedded-event-store.js', import.meta.url));

export interface StartedServer {
  readonly port: number;
  readonly connectionString: string;
  /** Stops or continues the process, as SIGSTOP and SIGCONT do. */
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly stop: () => Promise<void>;
}

/** Starts the embedded store as a process: it uses messages of one client, and a process cannot load both. */
export const startServer = async (dataDir: string, port = 0): Promise<StartedServer> => {
  const args = [PROGRAM, '--data', dataDir, '--port', String(port), '--exit-with-parent'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then(() => Promise.reject(new Error('The store ended before it listened'))),
  ])) as [string];
  const { port: bound } = JSON.parse(line) as { port: number };
  return {
    port: bound,
    connectionString: `esdb://127.0.0.1:${bound}?tls=false`,
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    },
  };
};
