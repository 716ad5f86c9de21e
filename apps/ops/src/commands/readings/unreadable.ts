import type { Pool } from 'pg';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { EpochKeys } from '@app/platform/crypto/epochs/epoch-keys.js';
import { KeyDestroyed, splitKeyId } from '@app/platform/crypto/wrapping-keys.js';

/** A reading whose credits were captured, and which its customer cannot read. */
export interface UnreadableReading {
  readonly readingId: string;
  readonly workspaceId: string;
  /** Credits. */
  readonly amount: number;
  /** RFC 3339. */
  readonly capturedAt: string;
  /** Id of the CreditsCaptured that a refund reverses. */
  readonly captureEventId: string;
  /** `key`: nothing of it opens. `document`: the result can be read, a published format is lost. */
  readonly cause: 'key' | 'document';
  readonly missingFormats: readonly string[];
  readonly refunded: boolean;
}

export interface Unreadable {
  readonly readings: readonly UnreadableReading[];
  /** Keys of epochs whose keeper does not answer, or has lost them: nothing is known of what they wrap. */
  readonly unknownKeys: readonly string[];
}

interface Captured {
  readonly workspaceId: string;
  readonly amount: number;
  readonly capturedAt: string;
  readonly captureEventId: string;
}

/** What the log says of paid readings. */
class PaidReadings {
  readonly captured = new Map<string, Captured>();
  readonly erased = new Set<string>();
  readonly formats = new Map<string, readonly string[]>();
  readonly reversed = new Set<string>();

  /** Takes only what it needs of an event; what does not have its shape is left to `ops doctor`. */
  see({ type, stream, id, data, metadata }: StoredEvent): void {
    const fields = (data ?? {}) as Record<string, unknown>;
    const { readingId, amount, reversesEventId, formats } = fields;
    if (type === 'CreditsCaptured' && typeof readingId === 'string' && typeof amount === 'number') {
      const { workspaceId, occurredAt } = metadata;
      this.captured.set(readingId, { workspaceId, amount, capturedAt: occurredAt, captureEventId: id });
    }
    if (type === 'CreditsAdjusted' && typeof reversesEventId === 'string') this.reversed.add(reversesEventId);
    if (type === 'ReadingErased') this.erased.add(afterDash(stream));
    if (type === 'DocumentPublished' && Array.isArray(formats))
      this.formats.set(
        afterDash(stream),
        (formats as { format: string }[]).map(({ format }) => format),
      );
  }
}

const afterDash = (stream: string): string => stream.slice(stream.indexOf('-') + 1);

const PAGE = 5_000;
const STEP = 1_000;

interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly keys: EpochKeys;
}

/**
 * Finds the readings that were paid and cannot be read: their key or a published document is missing although nobody
 * erased them. A restore leaves such readings when PostgreSQL’s backup is older than the event store’s.
 */
export const findUnreadable = async (
  { store, pool, keys }: Parts,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<Unreadable> => {
  const paid = new PaidReadings();
  const head = await store.head();
  let seen = 0;
  for await (const event of store.readAll()) {
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
      const missingFormats = (paid.formats.get(readingId) ?? []).filter((one) => !formats.includes(one));
      const cause = standing === 'lost' ? 'key' : missingFormats.length > 0 ? 'document' : null;
      // An erasure may have been recorded since the log was read.
      if (cause === null || (await isErased(store, readingId))) continue;
      const { captureEventId, ...captured } = paid.captured.get(readingId)!;
      const refunded = paid.reversed.has(captureEventId);
      readings.push({ readingId, ...captured, captureEventId, cause, missingFormats, refunded });
    }
  }
  return { readings, unknownKeys: wrapping.unknown() };
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
            array(select format from publishing.artifact where reading_id = id) as formats
     from unnest($1::uuid[]) as id left join platform.subject_key key on key.subject_id = id`,
    [ids],
  );
  return new Map(rows.map(({ id, ...parts }) => [id, parts]));
};

const isErased = async (store: EventStore, readingId: string): Promise<boolean> => {
  for await (const { type } of store.read(`reading-${readingId}`, { direction: 'backwards', limit: 3 }))
    if (type === 'ReadingErased') return true;
  return false;
};
