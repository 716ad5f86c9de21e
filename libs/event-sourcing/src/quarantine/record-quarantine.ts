import type { RequestContext } from '../core/request-context.js';
import { appendSurely } from '../handling/append-surely.js';
import { metadataOf } from '../handling/command-context.js';
import { prepareEvent } from '../handling/prepare-event.js';
import { readPastRival } from '../handling/read-past-rival.js';
import { collect } from '../store/collect.js';
import { WrongExpectedRevision } from '../store/errors.js';
import type { EventStore, ExpectedRevision } from '../store/event-store.js';
import { QUARANTINE_STREAM, quarantineEvents, type QuarantineEvent } from './quarantine-events.js';

/** Operators who decide at the same time, at most. */
const ATTEMPTS = 10;

/**
 * Appends a decision. Unlike a command executor, it reads no earlier ones: a bad entry in the stream must not keep
 * operators from deciding.
 * @throws StoreUnavailable
 */
export const recordQuarantine = async (
  store: EventStore,
  event: QuarantineEvent,
  by: RequestContext,
  now = Date.now(),
): Promise<void> => {
  const last = async (): Promise<{ readonly revision: ExpectedRevision }> => {
    const [event] = await collect(store.read(QUARANTINE_STREAM, { direction: 'backwards', limit: 1 }));
    return event ?? { revision: 'no_stream' };
  };
  let { revision: expected } = await last();
  for (let attempt = 1; ; attempt += 1) {
    const { stream, revision } = event.data;
    const { event: prepared } = prepareEvent(quarantineEvents, event, {
      stream: QUARANTINE_STREAM,
      revision: expected === 'no_stream' ? 0n : expected + 1n,
      intent: `${event.type}|${stream}@${revision}|${by.correlationId}`,
      metadata: metadataOf({ intent: '', by, workspaceId: '', at: now }),
      index: 0,
      previousChain: null,
    });
    try {
      await appendSurely(store, QUARANTINE_STREAM, expected, [prepared]);
      return;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision) || attempt === ATTEMPTS) throw error;
      ({ revision: expected } = await readPastRival(error, last));
    }
  }
};
