import type { Pool } from 'pg';
import { creditsEvents, type CreditsEventOf } from '#billing/contracts/index.js';
import { refundsOf, type Refunds } from '#billing/offline.js';
import {
  decodeOrShow,
  isOpaque,
  selectEvents,
  type EventOf,
  type OpaqueEvent,
} from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { KeyDestroyed, splitKeyId } from '#platform/crypto/wrapping-keys.js';
import { DOCUMENT_FORMATS, publicationEvents } from '#publishing/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';

/** A reading whose credits were captured, and which its customer cannot read. */
export interface UnreadableReading extends Refunds {
  readonly readingId: string;
  readonly workspaceId: string;
  /** Credits that were captured. */
  readonly amount: number;
  /** RFC 3339. */
  readonly capturedAt: string;
  /** Id of the CreditsCaptured. */
  readonly captureEventId: string;
  /** `key`: nothing of it opens. `document`: the result can be read, a format is lost or could not be made. */
  readonly cause: 'key' | 'document';
  readonly missingFormats: readonly string[];
  /** Nothing is left to refund. */
  readonly refunded: boolean;
}

export interface Unreadable {
  readonly readings: readonly UnreadableReading[];
  /** Keys of epochs whose keeper does not answer, or has lost them: nothing is known of what they wrap. */
  readonly unknownKeys: readonly string[];
  /** Events of payments and documents that do not count: set aside, or unreadable. `<stream>@<revision> (<type>)`. */
  readonly passedOver: readonly string[];
}

interface Captured {
  readonly workspaceId: string;
  readonly amount: number;
  readonly capturedAt: string;
  readonly captureEventId: string;
}

const FOLLOWED = [
  selectEvents(creditsEvents, 'CreditsCaptured', 'CreditsAdjusted'),
  selectEvents(readingEvents, 'ReadingErased'),
  selectEvents(publicationEvents, 'DocumentPublished', 'PublicationFailed'),
] as const;
type FollowedEvent = EventOf<(typeof FOLLOWED)[number]>;

/** What the log says of paid readings. */
class PaidReadings {
  readonly captured = new Map<string, Captured>();
  readonly erased = new Set<string>();
  /** Of the newest version, as `<version>/<format>`. */
  readonly formats = new Map<string, readonly string[]>();
  /** By the entry that they reverse. */
  readonly corrections = new Map<string, Recorded<CreditsEventOf<'CreditsAdjusted'>>[]>();
  readonly passedOver: string[] = [];

  /** An event that cannot be read, or is set aside, is no payment: nothing is refunded for it. */
  see(stored: StoredEvent): void {
    const catalogue = FOLLOWED.find(({ category }) => category === categoryOf(stored.stream));
    if (!catalogue || !Object.hasOwn(catalogue.definitions, stored.type)) return;
    const event: Recorded<FollowedEvent> | OpaqueEvent = decodeOrShow<(typeof FOLLOWED)[number]>(
      catalogue,
      stored,
    );
    if (isOpaque(event)) {
      this.passedOver.push(`${stored.stream}@${stored.revision} (${stored.type})`);
      return;
    }
    const { id: captureEventId, metadata } = event;
    const id = streamId(event.stream);
    switch (event.type) {
      case 'CreditsCaptured': {
        const { readingId, amount } = event.data;
        const { workspaceId, occurredAt: capturedAt } = metadata;
        this.captured.set(readingId, { workspaceId, amount, capturedAt, captureEventId });
        return;
      }
      case 'CreditsAdjusted': {
        const { reversesEventId } = event.data;
        if (reversesEventId === null) return;
        const others = this.corrections.get(reversesEventId);
        if (others) others.push(event);
        else this.corrections.set(reversesEventId, [event]);
        return;
      }
      case 'ReadingErased':
        this.erased.add(id);
        return;
      case 'DocumentPublished':
        this.formats.set(
          id,
          event.data.formats.map(({ format }) => `${event.data.version}/${format}`),
        );
        return;
      case 'PublicationFailed':
        // Paid, and never made. A later version that failed leaves the one before.
        if (!this.formats.has(id))
          this.formats.set(
            id,
            DOCUMENT_FORMATS.map((format) => `${event.data.version}/${format}`),
          );
    }
  }
}

const PAGE = 5_000;
const STEP = 1_000;

interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly keys: EpochKeys;
}

/**
 * Finds the readings that were paid and cannot be read: their key or a document is missing although nobody
 * erased them. A restore leaves such readings when PostgreSQL’s backup is older than the event store’s.
 */
export const findUnreadable = async (
  { store, pool, keys }: Parts,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Unreadable> => {
  const paid = new PaidReadings();
  const head = await store.head();
  let seen = 0;
  const only = { categories: FOLLOWED.map(({ category }) => category) };
  for await (const event of store.readAll({ only })) {
    if (head === null || event.position > head) break;
    paid.see(event);
    seen += 1;
    if (seen % STEP === 0) onProgress(Number(event.position), Number(head));
  }
  const readings: UnreadableReading[] = [];
  const wrapping = new WrappingKeysStanding(keys);
  const ids = [...paid.captured.keys()].filter((readingId) => !paid.erased.has(readingId));
  for (let start = 0; start < ids.length; start += PAGE) {
    const page = ids.slice(start, start + PAGE);
    const stored = await storedParts(pool, page);
    for (const readingId of page) {
      const { wrapped, formats } = stored.get(readingId)!;
      const standing = wrapped === null ? 'lost' : await wrapping.of(wrapped);
      if (standing === 'unknown') continue;
      const missingFormats = (paid.formats.get(readingId) ?? [])
        .filter((one) => !formats.includes(one))
        .map((one) => one.slice(one.indexOf('/') + 1));
      const cause = standing === 'lost' ? 'key' : missingFormats.length > 0 ? 'document' : null;
      // An erasure may have been recorded since the log was read.
      if (cause === null || (await isErased(store, readingId))) continue;
      const { captureEventId, ...captured } = paid.captured.get(readingId)!;
      const refunds = refundsOf({ eventId: captureEventId, amount: captured.amount }, paid.corrections);
      const refunded = refunds.toRefund.length === 0;
      readings.push({ readingId, ...captured, captureEventId, cause, missingFormats, ...refunds, refunded });
    }
  }
  return { readings, unknownKeys: wrapping.unknown(), passedOver: paid.passedOver };
};

/** Whether the keys that wrap data keys still open; each is asked once. */
class WrappingKeysStanding {
  private readonly known = new Map<string, 'open' | 'lost' | 'unknown'>();

  constructor(private readonly keys: EpochKeys) {}

  async of(wrapped: Buffer): Promise<'open' | 'lost' | 'unknown'> {
    const { id } = splitKeyId(wrapped);
    const known = this.known.get(id) ?? (await this.ask(id));
    this.known.set(id, known);
    return known;
  }

  unknown(): readonly string[] {
    return [...this.known].flatMap(([id, standing]) => (standing === 'unknown' ? [id] : []));
  }

  private async ask(id: string): Promise<'open' | 'lost' | 'unknown'> {
    try {
      await this.keys.named(id);
      return 'open';
    } catch (error) {
      return error instanceof KeyDestroyed ? 'lost' : 'unknown';
    }
  }
}

interface StoredParts {
  readonly wrapped: Buffer | null;
  readonly formats: readonly string[];
}

const storedParts = async (pool: Pool, ids: readonly string[]): Promise<Map<string, StoredParts>> => {
  const { rows } = await pool.query<StoredParts & { id: string }>(
    `select id, key.wrapped_key as wrapped,
            array(select version || '/' || format from publishing.artifact where reading_id = id) as formats
     from unnest($1::uuid[]) as id left join platform.subject_key key on key.subject_id = id`,
    [ids],
  );
  return new Map(rows.map(({ id, ...parts }) => [id, parts]));
};

/** Whether the stream of a reading says that it was erased. */
export const isErased = async (store: EventStore, readingId: string): Promise<boolean> => {
  for await (const event of store.read(`reading-${readingId}`, { direction: 'backwards', limit: 3 }))
    if (event.type === 'ReadingErased' && !isOpaque(decodeOrShow(readingEvents, event))) return true;
  return false;
};
