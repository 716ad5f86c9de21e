import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { EVENT_STORE_FLAGS } from '../../../apps/embedded/src/node-service.js';
import { programPath } from '#platform/program-path.js';

export interface ServedStore {
  /** `esdb://…` */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the embedded event store in a separate process, as the stack does. */
export const serveStore = async (dataDir: string): Promise<ServedStore> => {
  const main = programPath('embedded-event-store');
  const args = [...EVENT_STORE_FLAGS, main, '--data', dataDir, '--port', '0', '--exit-with-parent'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { port, pid } = JSON.parse(line) as { port: number; pid: number };
  return {
    url: `esdb://127.0.0.1:${String(port)}?tls=false`,
    pid,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
};
