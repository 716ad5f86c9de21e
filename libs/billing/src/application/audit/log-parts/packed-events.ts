import type { Quarantine, StoredEvent } from '@app/event-sourcing/core/event.js';
import { decodeReadAnswer, type EncodedEvent } from '@app/event-sourcing/store/read-answer.js';

/** Encoded events as one piece of memory, which another thread takes over without a copy. */
export interface PackedEvents {
  /** Their messages, one after another. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each message ends. */
  readonly ends: readonly number[];
  /** By the place of the event. */
  readonly quarantines: ReadonlyMap<number, Quarantine>;
}

export const packEvents = (events: readonly EncodedEvent[]): PackedEvents => {
  const size = events.reduce((sum, { message }) => sum + message.length, 0);
  // Its memory is its own, so it can be handed over.
  const bytes = Buffer.allocUnsafeSlow(size);
  const ends: number[] = [];
  const quarantines = new Map<number, Quarantine>();
  let end = 0;
  for (const { message, quarantine } of events) {
    if (quarantine) quarantines.set(ends.length, quarantine);
    bytes.set(message, end);
    ends.push((end += message.length));
  }
  return { bytes, ends, quarantines };
};

export const unpackEvents = ({ bytes, ends, quarantines }: PackedEvents): StoredEvent[] => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return ends.map((end, place) => {
    const { event } = decodeReadAnswer(buffer.subarray(ends[place - 1] ?? 0, end));
    const quarantine = quarantines.get(place);
    return quarantine ? { ...event!, quarantine } : event!;
  });
};
