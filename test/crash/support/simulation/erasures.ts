import { streamId } from '#event-sourcing/core/stream-name.js';
import { plainKey } from './plain-key.js';
import type { World } from './world.js';

/** In any order of erasure, completion and publication, nothing of an erased reading is stored, offered or announced. */
export const checkErasures = ({ store, tables }: World, tell: (breach: string) => void): void => {
  const erasedAt = new Map<string, bigint>();
  const sealedInputs = new Map<string, string>();
  for (const { type, stream, position, data } of store.log) {
    const id = streamId(stream);
    if (type === 'ReadingRequested') sealedInputs.set(id, (data as { sealedInput: string }).sealedInput);
    if (type === 'DocumentPublished' && erasedAt.has(id))
      tell(`reading ${id} was published after its erasure`);
    if (type !== 'ReadingErased') continue;
    if (erasedAt.has(id)) tell(`reading ${id} was erased twice`);
    erasedAt.set(id, position);
  }
  for (const { type, stream } of store.log) {
    if (type === 'PublicationWithdrawn' && !erasedAt.has(streamId(stream)))
      tell(`the erasure of reading ${streamId(stream)} was started and never finished`);
  }
  for (const [id, position] of erasedAt) {
    // A request that raced with the erasure may have created another key, which opens nothing.
    if (opens(sealedInputs.get(id), tables.subjectKeys.get(id)?.serial))
      tell(`sealed data of erased reading ${id} can be opened`);
    if (tables.views.of('readings.result').has(id)) tell(`erased reading ${id} has a result`);
    const row = tables.views.of('readings.reading').get(id);
    if (row?.['erased_at'] === null || row?.['sealed_input'] !== '')
      tell(`erased reading ${id} is not erased in the view`);
    const due = [
      ...tables.views.of('publishing.publication').values(),
      ...tables.views.of('publishing.republication').values(),
    ];
    if (due.some((one) => one['reading_id'] === id && one['due_at'] !== null))
      tell(`erased reading ${id} is due to be published`);
    for (const key of tables.artifacts.keys())
      if (key.startsWith(`${id}|`)) tell(`erased reading ${id} still has ${key}`);
    for (const { readingId, type, position: toldAt } of tables.publicEvents.values()) {
      if (readingId === id && BigInt(toldAt) > position && type !== 'reading.failed')
        tell(`${type} of reading ${id} was announced after its erasure`);
    }
  }
};

const opens = (sealed: string | undefined, serial: number | undefined): boolean => {
  if (serial === undefined || sealed === undefined) return false;
  try {
    plainKey(serial).open('input|padded', Buffer.from(sealed, 'base64'));
    return true;
  } catch {
    return false;
  }
};
