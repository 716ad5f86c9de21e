/**
 * A process that appends through the EventStore port, without pauses, to streams of its own until standard input closes.
 * It retries an append with an unknown outcome with the same ids and revision. At the end it prints one line:
 * {"acknowledged": number, "repeated": number}. An unhandled error ends it, as it ends every Node process.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { addedToAppend } from '#event-sourcing/testing/tally.js';

const [connectionString = ''] = process.argv.slice(2);
const store = await openEventStore({
  connectionString,
  appendTimeoutMs: 1_000,
  readTimeoutMs: 2_000,
});
let open = true;
let acknowledged = 0;
let repeated = 0;

const append = async (
  stream: string,
  expected: bigint | 'no_stream',
  event: EventToAppend,
): Promise<void> => {
  for (;;) {
    try {
      await store.append(stream, expected, [event]);
      acknowledged += 1;
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (!open) return;
      repeated += 1;
      await delay(20);
    }
  }
};

const writer = async (): Promise<void> => {
  const stream = `tally-${randomUUID()}`;
  for (let n = 0n; open; n += 1n) {
    await append(stream, n === 0n ? 'no_stream' : n - 1n, addedToAppend(randomUUID(), `r${n}`));
    if (n === 0n) process.stderr.write('.');
  }
};

const writing = Promise.all(Array.from({ length: 32 }, writer));
process.stdin.resume();
await Promise.race([once(process.stdin, 'end'), writing]);
open = false;
await writing;
await store.close();
process.stdout.write(`${JSON.stringify({ acknowledged, repeated })}\n`, () => process.exit(0));
