import { programPath } from '#platform/program-path.js';
import { startNode } from '../child.js';
import { EVENT_STORE_FLAGS } from '../../../apps/embedded/src/launched.js';

export interface ServedStore {
  readonly port: number;
  /** `esdb://…` */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the embedded event store in a separate process, as the stack does, without TLS and login. */
export const serveStore = async (dataDir: string): Promise<ServedStore> => {
  const args = ['--data', dataDir, '--port', '0', '--exit-with-parent'];
  const { line, stop } = await startNode([
    ...EVENT_STORE_FLAGS,
    programPath('embedded-event-store'),
    ...args,
  ]);
  const { port, pid } = JSON.parse(line) as { port: number; pid: number };
  return { port, url: `esdb://127.0.0.1:${port}?tls=false`, pid, stop: () => stop() };
};
