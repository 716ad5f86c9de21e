import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { decode } from '#event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { creditsEvents } from '../../contracts/events.js';
import {
  DOCUMENT_REFUND,
  DOCUMENT_REFUND_ACTOR,
  documentRefund,
  isGivenUp,
} from '../../domain/document-refund.js';

/** What counts of an entry `CreditsAdjusted`. */
interface Facts {
  readonly adjustmentId: string;
  readonly reversesEventId: string | null;
}

/** Whether an entry says that the service booked it, because a document was given up. */
export const isDocumentRefund = ({ type, data }: Pick<StoredEvent, 'type' | 'data'>): boolean =>
  type === 'CreditsAdjusted' && (data as { actor?: unknown } | null)?.actor === DOCUMENT_REFUND_ACTOR;

/** Whether an event may be what such entries follow from. */
export const isCauseOfRefunds = (stored: StoredEvent): boolean =>
  !isSetAside(stored) &&
  (categoryOf(stored.stream) === publicationEvents.category
    ? stored.type === 'PublicationFailed' || stored.type === 'DocumentPublished'
    : stored.type === 'CreditsCaptured' && categoryOf(stored.stream) === creditsEvents.category);

/** Entries that no operator signs: each follows from a document that was given up, and from the capture of its reading. */
export class JudgedDocumentRefunds {
  /** By stream and event id; `left`: credits that no entry has reversed. */
  private readonly captures = new Map<string, { readonly readingId: string; left: number }>();
  /** By the id of the entry that follows from it. */
  private readonly failures = new Map<
    string,
    { readonly id: string; readonly readingId: string; readonly workspaceId: string }
  >();
  private readonly published = new Set<string>();

  /** Takes the causes of refunds, in the order of the log. @throws CorruptEvent */
  see(stored: StoredEvent): void {
    const { id, stream } = stored;
    if (stored.type === 'CreditsCaptured') {
      const event = decode(creditsEvents, stored);
      if (event.type !== 'CreditsCaptured') return;
      this.captures.set(`${stream} ${id}`, { readingId: event.data.readingId, left: event.data.amount });
      return;
    }
    const readingId = streamId(stream);
    const event = decode(publicationEvents, stored);
    if (event.type === 'DocumentPublished') this.published.add(readingId);
    if (event.type !== 'PublicationFailed' || !isGivenUp(event.data) || this.published.has(readingId)) return;
    const { workspaceId } = event.data;
    this.failures.set(documentRefund(readingId, id, '', 0).adjustmentId, { id, readingId, workspaceId });
  }

  /** Takes what any entry reverses, once it is judged. */
  reversed({ stream }: StoredEvent, reversesEventId: string | null, amount: number): void {
    const capture = this.captures.get(`${stream} ${reversesEventId}`);
    if (capture) capture.left -= amount;
  }

  /** Why the entry is no refund that the service had to book; `null`: it is. */
  faultOf({ stream }: StoredEvent, facts: Facts): string | null {
    const failure = this.failures.get(facts.adjustmentId);
    if (!failure) return 'no document was given up for this entry, and no two operators signed it';
    const { id, readingId, workspaceId } = failure;
    const { reversesEventId } = facts;
    const capture = this.captures.get(`${stream} ${reversesEventId}`);
    if (!capture || capture.readingId !== readingId || workspaceId !== streamId(stream))
      return `the entry does not reverse the capture of reading ${readingId}, whose document was given up`;
    const expected = documentRefund(readingId, id, reversesEventId!, capture.left);
    const by = { approvedBy: DOCUMENT_REFUND, actor: DOCUMENT_REFUND_ACTOR };
    return capture.left > 0 && canonicalJson({ ...expected, ...by }) === canonicalJson(facts)
      ? null
      : `the entry is not the one that gives back the credits of reading ${readingId}, or it is booked twice`;
  }
}
