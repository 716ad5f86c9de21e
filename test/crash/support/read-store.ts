import { createHash } from 'node:crypto';
import { describeDamage, isDamage } from '#embedded-event-store/log/environment.js';
import { dataFileOf, LogStore } from '#embedded-event-store/log/log-store.js';
import { verifyFolder } from '#embedded-event-store/operator/verify.js';

/** What one look at a store says. */
export interface Look {
  /** What opening or verifying it reports. */
  readonly said: readonly string[];
  /** Hash of everything that the store answers; empty when it does not. */
  readonly answers: string;
}

/** Everything that clients can see of a store, a hash for each kind. @throws what the store throws */
const answersOf = (store: LogStore): string => {
  const [heads, streams, log] = [createHash('sha256'), createHash('sha256'), createHash('sha256')];
  for (const head of store.allHeads()) {
    heads.update(
      JSON.stringify(head, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
    );
    // A stream may have metadata and no events.
    if (head.last < 0n) continue;
    for (const position of store.positions(head.number, 0n, head.last, 1_000_000))
      streams.update(store.recordAt(position)?.bytes ?? 'missing');
  }
  for (const record of store.records({ from: 0n, limit: 1_000_000 })) log.update(record.bytes);
  const hashes = [heads, streams, log].map((hash) => hash.digest('hex').slice(0, 16));
  return `${store.streamCount()} ${hashes.join(' ')}`;
};

const look = async (folder: string): Promise<Look> => {
  try {
    const served = await LogStore.open(folder);
    const answers = answersOf(served);
    await served.close();
    const { listed } = await verifyFolder(folder);
    return { said: listed, answers };
  } catch (error) {
    const damage = isDamage(error) ? describeDamage(dataFileOf(folder), error) : (error as Error).message;
    return { said: [damage], answers: '' };
  }
};

process.on('message', (folder: string) => void look(folder).then((found) => process.send!(found)));
