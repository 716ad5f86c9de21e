import { randomBytes, randomUUID } from 'node:crypto';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';

/** Events of one published reading, in its two streams. */
export const EVENTS_PER_READING = 5;
const WRITERS = 64;
const AT = '2026-04-12T10:00:00.000Z';
const WORKSPACE = 'ws_0000000000000000000001';

/** Sealed bytes of the same length as those of a real reading. */
const SEALED_INPUT = randomBytes(186).toString('base64');
const SEALED_RESULT = randomBytes(4_395).toString('base64');

/** Appends published readings: many concurrently, as a busy service does. */
export const fillWithReadings = async (store: EventStore, readings: number): Promise<void> => {
  let left = readings;
  const writer = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const id = randomUUID();
      await store.append(`reading-${id}`, 'no_stream', [
        event('ReadingRequested', {
          workspaceId: WORKSPACE,
          livemode: true,
          productId: 'theme',
          profileId: 'evan',
          locale: 'fr-FR',
          asOf: '2026-04-12',
          sealedInput: SEALED_INPUT,
          cost: 20,
          reservationId: id,
        }),
        event('ReadingStarted', { attempt: 1, workerId: 'worker', leaseUntil: AT }),
      ]);
      await store.append(`reading-${id}`, 1n, [
        event('ReadingCompleted', {
          workspaceId: WORKSPACE,
          livemode: true,
          attempt: 1,
          reservationId: id,
          sealedResult: SEALED_RESULT,
        }),
      ]);
      const publication = {
        workspaceId: WORKSPACE,
        livemode: true,
        version: 1,
        artifactId: id,
        publishedAt: AT,
      };
      await store.append(`publication-${id}`, 'no_stream', [
        event('PublicationRequested', { ...publication, paper: 'a4' }),
      ]);
      await store.append(`publication-${id}`, 0n, [
        event('DocumentPublished', { ...publication, formats: FORMATS, contentVersion: '2026.11.2' }),
      ]);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
};

const FORMATS = (['document_v1', 'markdown', 'pdf'] as const).map((format) => ({
  format,
  mediaType: 'application/octet-stream',
  digest: 'b'.repeat(64),
  bytes: 40_000,
}));

const event = (type: string, data: object): EventToAppend => ({
  id: randomUUID(),
  type,
  data,
  metadata: {
    correlationId: 'req_0000000000000000000001',
    causationId: 'req_0000000000000000000001',
    workspaceId: WORKSPACE,
    actor: 'system:readings.generate',
    occurredAt: AT,
    schemaVersion: 1,
    traceparent: '00-00000000000000000000000000000000-0000000000000000-01',
  },
});
