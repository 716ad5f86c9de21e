import { lookAt } from '#embedded-event-store/log/look-at.js';
import type { StoredRecord } from '#embedded-event-store/log/record.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { SetAsideRegister } from '#event-sourcing/projections/set-aside.js';
import { readMetadata } from '#event-sourcing/store/metadata.js';
import { Erasures } from './log.js';

/**
 * `node list-erased.js <folder>` prints the erased readings of an embedded event store, a JSON value a line, and at the end
 * `{ notErased }` for each that only a bad event calls so. A damaged file may end its reader: what was printed counts.
 */

const parsed = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
};

const asStored = (record: StoredRecord): StoredEvent => ({
  id: record.id,
  stream: record.stream,
  revision: record.revision,
  position: record.position,
  type: record.type,
  data: parsed(record.data),
  metadata: readMetadata(parsed(record.metadata), record.createdAt),
});

await lookAt(process.argv[2] ?? '', async (store) => {
  const register = new SetAsideRegister({
    async *read(stream) {
      const head = store.head(stream);
      for (let revision = 0n; head && revision <= head.last; revision += 1n) {
        const record = store.recordOf(head.number, revision);
        if (record) yield Promise.resolve(asStored(record));
      }
    },
  });
  // A damaged decision must not hide the erasures.
  await register.refresh().catch(() => undefined);

  const erasures = new Erasures();
  for (const record of store.records({ from: 0n, limit: Number.MAX_SAFE_INTEGER })) {
    if (record.type !== 'ReadingErased') continue;
    const reading = erasures.see(register.marked(asStored(record)));
    if (reading) console.log(JSON.stringify(reading));
  }
  for (const notErased of erasures.notErased) console.log(JSON.stringify({ notErased }));
});
