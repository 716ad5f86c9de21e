import { LogStore } from '@app/embedded-event-store/log/log-store.js';

/**
 * Prints the erased readings of an embedded event store, one JSON value per line. A program of its own, because a
 * damaged file may end the process that reads it: what was printed until then still counts.
 *
 *   node list-erased.js <folder>
 */

/** @returns undefined for an event that no program can read: it erases nobody */
const workspaceOf = (data: Buffer): string | undefined => {
  try {
    const { workspaceId } = JSON.parse(data.toString('utf8')) as { workspaceId?: unknown };
    return typeof workspaceId === 'string' ? workspaceId : undefined;
  } catch {
    return undefined;
  }
};

const store = await LogStore.inspect(process.argv[2] ?? '');
for (const record of store.records({ from: 0n, limit: Number.MAX_SAFE_INTEGER })) {
  if (record.type !== 'ReadingErased' || !record.stream.startsWith('reading-')) continue;
  const workspaceId = workspaceOf(record.data);
  if (workspaceId === undefined) continue;
  const line = { readingId: record.stream.slice('reading-'.length), workspaceId };
  console.log(JSON.stringify(line));
}
await store.close();
