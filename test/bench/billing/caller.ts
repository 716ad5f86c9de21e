/**
 * One process of callers, as an API process has them: each reserves the price of a reading again and again on one
 * workspace. `caller.js URL WORKSPACE CALLERS SECONDS` waits for a line on its standard input, so that several start
 * together, and prints one line of JSON.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { ReserveCredits } from '@app/readings/contracts/index.js';
import { StoreUnavailable } from '@app/event-sourcing/store/errors.js';
import { BY, connect, ledgerOn } from './books.js';

export interface Called {
  readonly reserved: number;
  readonly refused: number;
  /** What an API answers with 503. */
  readonly unavailable: number;
  /** Milliseconds of each reservation. */
  readonly latencies: readonly number[];
  /** Milliseconds of CPU time, of this process. */
  readonly cpu: number;
  readonly elapsed: number;
}

const [url = '', workspaceId = '', callers = '', seconds = ''] = process.argv.slice(2);
const store = connect(url);
const { reserving } = ledgerOn(store);

const call = async (until: number) => {
  const counts = { reserved: 0, refused: 0, unavailable: 0 };
  const latencies: number[] = [];
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const id = randomUUID();
      const startedAt = performance.now();
      try {
        const { outcome } = await reserving.execute(new ReserveCredits(workspaceId, id, id, 'theme', BY));
        counts[outcome === 'reserved' ? 'reserved' : 'refused'] += 1;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        counts.unavailable += 1;
      }
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: Number(callers) }, caller));
  return { ...counts, latencies };
};

process.stdout.write('ready\n');
await once(process.stdin, 'data');
// A second of warm-up, which does not count in the rate but in the ledger.
const warm = await call(performance.now() + 1_000);
const [startedAt, before] = [performance.now(), process.cpuUsage()];
const called = await call(startedAt + Number(seconds) * 1_000);
const cpu = process.cpuUsage(before);
const result: Called & { readonly warm: number } = {
  ...called,
  unavailable: called.unavailable + warm.unavailable,
  warm: warm.reserved,
  cpu: (cpu.user + cpu.system) / 1_000,
  elapsed: performance.now() - startedAt,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
