import { LogStore } from '@app/embedded-event-store/log/log-store.js';

/**
 * Prints the erased readings of an embedded event store, one JSON value per line. A program of its own, because a
 * damaged file may end the process that reads it: what was printed until then still counts.
 *
 *   node list-erased.js <folder>
 */
const store = await LogStore.inspect(process.argv[2] ?? '');
for (const record of store.records({ from: 0n, limit: Number.MAX_SAFE_INTEGER })) {
  if (record.type !== 'ReadingErased' || !record.stream.startsWith('reading-')) continue;
  const { workspaceId } = JSON.parse(record.data.toString('utf8')) as { workspaceId: string };
  const line = { readingId: record.stream.slice('reading-'.length), workspaceId };
  console.log(JSON.stringify(line));
}
await store.close();
