import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { decodeOrShow, isOpaque, selectEvents } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { streamId, streamName } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { creditsEvents, type CreditsEventOf } from '../contracts/events.js';
import {
  DOCUMENT_REFUND,
  DOCUMENT_REFUND_ACTOR,
  documentRefund,
  isGivenUp,
} from '../domain/document-refund.js';

type Entry = Recorded<CreditsEventOf<'CreditsAdjusted'>>;

/** The event without what an operator has readers pass over: whoever hides an event from the service hides nothing from audits. */
export const asAppended = ({ setAside: _, ...stored }: StoredEvent): StoredEvent => stored;

/** Whether an entry says that the service booked it, because a document was given up. */
export const isDocumentRefund = ({ data }: Pick<StoredEvent, 'data'>): boolean =>
  (data as { actor?: unknown } | null)?.actor === DOCUMENT_REFUND_ACTOR;

/** What the entries that the service books must follow from: captures of their books, and documents that were given up. */
export class RefundCauses {
  /** By stream and event id; `left`: credits that no entry has reversed. */
  private readonly captures = new Map<string, { revision: bigint; readingId: string; left: number }>();
  /** By the id of the entry that follows from it. */
  private readonly failures = new Map<string, Readonly<Record<'id' | 'readingId' | 'workspaceId', string>>>();

  /** @param refunds entries that say to be such: their books and publications are read */
  static async of(store: Pick<EventStore, 'read'>, refunds: readonly StoredEvent[]): Promise<RefundCauses> {
    const causes = new RefundCauses();
    const captured = selectEvents(creditsEvents, 'CreditsCaptured');
    for (const stream of new Set(refunds.map((one) => one.stream)))
      for await (const stored of store.read(stream)) {
        if (stored.type !== 'CreditsCaptured') continue;
        const event = decodeOrShow(captured, stored);
        if (isOpaque(event)) continue;
        const { readingId, amount: left } = event.data;
        causes.captures.set(`${stream} ${event.id}`, { revision: event.revision, readingId, left });
      }
    const named = refunds.map(({ data }) => (data as { reference?: unknown }).reference);
    for (const readingId of new Set(named))
      if (typeof readingId === 'string' && readingId !== '') await causes.readFailure(store, readingId);
    return causes;
  }

  private async readFailure(store: Pick<EventStore, 'read'>, readingId: string): Promise<void> {
    for await (const stored of store.read(streamName(publicationEvents.category, readingId))) {
      const event = decodeOrShow(publicationEvents, asAppended(stored));
      if (isOpaque(event)) continue;
      if (event.type === 'DocumentPublished') return;
      if (event.type !== 'PublicationFailed' || !isGivenUp(event.data)) continue;
      const { workspaceId } = event.data;
      const { adjustmentId } = documentRefund(readingId, event.id, '', 0);
      this.failures.set(adjustmentId, { id: event.id, readingId, workspaceId });
    }
  }

  /** Every entry is told, in the order of the log: what it gives back of a capture is not left for another. */
  take({ stream, data: { reversesEventId, amount } }: Entry): void {
    const capture = this.captures.get(`${stream} ${reversesEventId}`);
    if (capture) capture.left -= amount;
  }

  /** Why an entry is no refund that the service had to book; `null`: it is. */
  faultOf({ stream, revision, data }: Entry): string | null {
    // What the book works out from its own entries, `BookVerifier` checks.
    const { allocations: _, restores: __, counts: ___, ...facts } = data;
    const failure = this.failures.get(data.adjustmentId);
    if (!failure) return 'no document was given up for this entry, and no two operators signed it';
    const { id, readingId, workspaceId } = failure;
    const capture = this.captures.get(`${stream} ${data.reversesEventId}`);
    const isOwn = capture?.readingId === readingId && workspaceId === streamId(stream);
    if (!capture || !isOwn || capture.revision > revision)
      return `the entry does not reverse the capture of reading ${readingId}, whose document was given up`;
    const expected = documentRefund(readingId, id, data.reversesEventId!, capture.left);
    const by = { approvedBy: DOCUMENT_REFUND, actor: DOCUMENT_REFUND_ACTOR };
    return capture.left > 0 && canonicalJson({ ...expected, ...by }) === canonicalJson(facts)
      ? null
      : `the entry is not the one that gives back the credits of reading ${readingId}, or it is booked twice`;
  }
}
