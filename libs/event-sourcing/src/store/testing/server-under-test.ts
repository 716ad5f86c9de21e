import { startChildStore } from '../../../../../test/contract/event-store/support/child-store.js';

export interface StartedServer {
  readonly port: number;
  readonly connectionString: string;
  /** Stops or continues the process, as SIGSTOP and SIGCONT do. */
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the store that the environment names, or the embedded one, as a process.
 * @param port a free one by default
 */
export const startServer = async (dataDir: string, port?: number): Promise<StartedServer> => {
  const store = await startChildStore(dataDir, port === undefined ? {} : { port });
  return {
    port: Number(new URL(store.connectionString).port),
    connectionString: store.connectionString,
    signal: (signal) => void store.process.kill(signal),
    stop: async () => {
      store.process.kill('SIGCONT');
      await store.end('SIGTERM');
    },
  };
};
