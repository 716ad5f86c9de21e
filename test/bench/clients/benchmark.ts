import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLIENTS } from '@app/event-sourcing/store/defaults.js';
import { projectPath } from '@app/platform/project-path.js';
import { serve, events } from '../event-store/load.js';
import { told, type Benchmark } from '../report.js';

const EVENTS = 40_000;
const ROUNDS = 5;

/** Compares the clients that EVENT_STORE_CLIENT chooses from. */
export const clientsBenchmark: Benchmark = {
  name: 'clients',
  title: 'The clients of the event store',
  explanation: `The log of the embedded store, read through the service's adapter, by a process for each client. CPU time of the
reader, user and system: the best of ${ROUNDS} rounds.`,
  async run({ count = EVENTS, add }) {
    const folder = mkdtempSync(join(tmpdir(), 'clients-bench-'));
    const served = await serve('store', folder);
    try {
      for (let n = 0; n < count; n += 500) await served.client.appendToStream(`read-${n}`, events(500));
      const url = `esdb://127.0.0.1:${served.port}?tls=false`;
      for (const name of CLIENTS) {
        const args = [projectPath('dist/test/bench/clients/reader.js'), name, url, String(ROUNDS)];
        const { stdout } = await promisify(execFile)(process.execPath, args);
        add(
          told(`reading ${count} events, EVENT_STORE_CLIENT=${name}`, Number(stdout), 'µs of CPU an event'),
        );
      }
    } finally {
      await served.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
