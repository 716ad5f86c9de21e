/**
 * A process with concurrent callers, like an API process. Each repeatedly reserves the price of a reading on one
 * workspace. `caller.js URL WORKSPACE CALLERS SECONDS` waits for a line on standard input, so that several processes
 * start together, and prints one line of JSON.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { ReserveCredits } from '#readings/contracts/index.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { BY, connect, ledgerOn } from './books.js';

export interface Called {
  readonly reserved: number;
  readonly refused: number;
  /** Reservations that an API would answer with 503. */
  readonly unavailable: number;
  /** Duration of each reservation, milliseconds. */
  readonly latencies: readonly number[];
  /** CPU time of this process, milliseconds. */
  readonly cpu: number;
  readonly elapsed: number;
}

const [url = '', workspaceId = '', callers = '', seconds = ''] = process.argv.slice(2);
const store = await connect(url);
const { reserving } = ledgerOn(store);

const call = async (until: number) => {
  const counts = { reserved: 0, refused: 0, unavailable: 0 };
  const latencies: number[] = [];
  const caller = async (): Promise<void> => {
    while (performance.now() < until) {
      const id = randomUUID();
      const reservation = { reservationId: id, readingId: id };
      const startedAt = performance.now();
      try {
        const { outcome } = await reserving.execute(
          new ReserveCredits(workspaceId, { reservations: [reservation], all: true }, 'theme', true, BY),
        );
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
// The warm-up second counts in the ledger, but not in the rate.
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
