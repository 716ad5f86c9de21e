import { streamId } from '#event-sourcing/core/stream-name.js';
import type { SubjectKey, SubjectKeys } from '#platform/crypto/subject-keys.js';
import type { History, Report } from './history.js';
import { placeOf } from './lost-suffix.js';
import type { World } from './world.js';

/** In any order of erasure, completion and publication, nothing of an erased reading is stored, offered or announced. */
export const checkErasures = async (
  { store }: World,
  { rows }: History,
  keys: SubjectKeys,
  tell: Report,
): Promise<void> => {
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
    if (opens(sealedInputs.get(id), await keys.find(id)))
      tell(`sealed data of erased reading ${id} can be opened`);
    const of = (table: string) => rows(table).filter((row) => row['reading_id'] === id);
    if (of('readings.result').length > 0) tell(`erased reading ${id} has a result`);
    const [row] = of('readings.reading');
    if (row?.['erased_at'] === null || row?.['sealed_input'] !== '')
      tell(`erased reading ${id} is not erased in the view`);
    const due = [...of('publishing.publication'), ...of('publishing.republication')];
    if (due.some((one) => one['due_at'] !== null)) tell(`erased reading ${id} is due to be published`);
    for (const artifact of of('publishing.artifact'))
      tell(`erased reading ${id} still has ${placeOf(artifact)}`);
    for (const { type, position: toldAt } of of('webhooks.public_event')) {
      if (BigInt(toldAt as number) > position && type !== 'reading.failed')
        tell(`${type as string} of reading ${id} was announced after its erasure`);
    }
  }
};

const opens = (sealed: string | undefined, key: SubjectKey | null): boolean => {
  if (key === null || sealed === undefined) return false;
  try {
    key.open('input|padded', Buffer.from(sealed, 'base64'));
    return true;
  } catch {
    return false;
  }
};
