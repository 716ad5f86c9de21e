import { randomUUID } from 'node:crypto';
import type { GroupCommit } from '../log/group-commit.js';
import { FIRST_POSITION, type LogStore, type LogWrite, type NumberedRecord } from '../log/log-store.js';
import { encodeRecord, type ProposedEvent } from '../log/record.js';
import {
  NO_EVENTS,
  isMetastream,
  METADATA_TYPE,
  originalOf,
  retentionOf,
  type Retention,
  type StreamHead,
} from './stream-head.js';

/** The revision that a writer expects of its stream. */
export type ExpectedRevision = bigint | 'any' | 'no_stream';

/** The outcome of an append; returned once it is durable. */
export type WriteOutcome =
  | { readonly kind: 'written'; readonly revision: bigint; readonly position: bigint | undefined }
  /** `current` is the stream's last revision, -1 if it has no events. */
  | { readonly kind: 'conflict'; readonly current: bigint };

/** An event, and where it was placed. */
interface PlacedEvent {
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
}

/**
 * Of an append that is repeated before its first attempt is durable. EventStoreDB drops it and counts on the writer's
 * next attempt: the writer hears of the commit timeout.
 */
const noAnswer = (): Promise<never> => new Promise<never>(() => undefined);

/** What EventStoreDB lays down for its list of scavenges before the first event of anyone. */
const SCAVENGES_METADATA = {
  $maxAge: 30 * 24 * 60 * 60,
  $acl: { $r: '$ops', $w: [], $d: [], $mr: [], $mw: [] },
};

/** The records and heads of one write, prepared before it is written. They include changed metadata. */
interface Draft {
  readonly records: NumberedRecord[];
  readonly heads: Map<string, StreamHead>;
}

export interface StreamWriterOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Whether a conflict is answered before the state behind it is durable. */
  readonly refusesAtOnce?: boolean;
}

/**
 * Numbers and writes events. Each write is decided synchronously, so writes are totally ordered. The
 * response, even a refusal, waits until everything it is based on is durable.
 */
export class StreamWriter {
  /** Decided and not yet durable: the heads of streams by name, and events by `<revision>@<stream number>`. */
  private readonly pendingHeads = new Map<string, StreamHead>();
  private readonly pendingEvents = new Map<string, PlacedEvent>();
  private nextPosition: bigint;
  private nextStreamNumber: number;
  private lastCreatedAt = 0;

  constructor(
    private readonly store: LogStore,
    private readonly commits: GroupCommit,
    private readonly options: StreamWriterOptions,
  ) {
    this.nextStreamNumber = store.streamCount();
    const last = store.lastRecord();
    this.nextPosition = last ? last.position + BigInt(last.bytes.length) : FIRST_POSITION;
    this.lastCreatedAt = last?.createdAt ?? 0;
  }

  /** Number of streams ever created, including those not yet durable. */
  get streamCount(): number {
    return this.nextStreamNumber;
  }

  private head(stream: string): StreamHead | undefined {
    return this.pendingHeads.get(stream) ?? this.store.head(stream);
  }

  /**
   * Appends events to a stream, as EventStoreDB's IndexWriter.CheckCommit decides. It recognises a repeated append by the
   * ids of the events after the expected revision; with `any`, EventStoreDB knows recent ids only, and this store none. The
   * caller has checked names and sizes.
   */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly ProposedEvent[],
  ): Promise<WriteOutcome> {
    const head = this.head(stream);
    const current = head?.last ?? NO_EVENTS;
    const exact = expected === 'any' ? current : expected === 'no_stream' ? NO_EVENTS : expected;
    if (exact !== current) {
      const before = head && this.placedBefore(head, exact, events);
      if (before) {
        const { revision, position } = before;
        if (this.pendingEvents.has(eventKey(head.number, revision))) return noAnswer();
        return this.whenSettled({ kind: 'written', revision, position });
      }
      const conflict = { kind: 'conflict', current } as const;
      return this.options.refusesAtOnce ? Promise.resolve(conflict) : this.whenSettled(conflict);
    }
    if (events.length === 0)
      return this.whenSettled({ kind: 'written', revision: current, position: undefined });
    const draft: Draft = { records: [], heads: new Map() };
    this.place(draft, stream, events);
    return this.write(draft);
  }

  /** The last of these events, if they are those that follow the revision. */
  private placedBefore(
    { number }: StreamHead,
    expected: bigint,
    events: readonly ProposedEvent[],
  ): PlacedEvent | undefined {
    let last: PlacedEvent | undefined;
    for (const [index, { id }] of events.entries()) {
      const revision = expected + BigInt(index) + 1n;
      last = this.pendingEvents.get(eventKey(number, revision)) ?? this.store.recordOf(number, revision);
      if (last?.id !== id) return undefined;
    }
    return last;
  }

  /** Writes the system events with which an EventStoreDB begins, so that its readers meet such events here too. */
  async writeFirstEvents(): Promise<void> {
    const draft: Draft = { records: [], heads: new Map() };
    this.place(draft, '$$$scavenges', [
      {
        id: randomUUID(),
        type: METADATA_TYPE,
        contentType: 'application/json',
        data: Buffer.from(JSON.stringify(SCAVENGES_METADATA)),
        metadata: Buffer.alloc(0),
      },
    ]);
    await this.write(draft);
  }

  private headFor(draft: Draft, stream: string): StreamHead {
    const known = draft.heads.get(stream) ?? this.head(stream);
    if (known) return known;
    // Only the last event of a metadata stream is visible.
    const retention: Retention = isMetastream(stream) ? { maxCount: 1n } : {};
    return { name: stream, number: this.nextStreamNumber++, last: NO_EVENTS, retention };
  }

  private place(draft: Draft, stream: string, events: readonly ProposedEvent[]): void {
    let head = this.headFor(draft, stream);
    for (const event of events) {
      head = { ...head, last: head.last + 1n };
      this.number(draft, head, event);
    }
    draft.heads.set(stream, head);
    const metadata = isMetastream(stream) ? events.findLast(({ type }) => type === METADATA_TYPE) : undefined;
    if (!metadata) return;
    const described = this.headFor(draft, originalOf(stream));
    draft.heads.set(described.name, { ...described, retention: retentionOf(metadata.data) });
  }

  private number(draft: Draft, head: StreamHead, event: ProposedEvent): void {
    const createdAt = Math.max(this.options.now(), this.lastCreatedAt);
    this.lastCreatedAt = createdAt;
    const [revision, position] = [head.last, this.nextPosition];
    const bytes = encodeRecord(event, { stream: head.name, revision, position, createdAt });
    this.nextPosition += BigInt(bytes.length);
    draft.records.push({ streamNumber: head.number, revision, position, bytes });
    this.pendingEvents.set(eventKey(head.number, revision), { id: event.id, revision, position });
  }

  private async write(draft: Draft): Promise<WriteOutcome> {
    const write: LogWrite = { records: draft.records, heads: [...draft.heads.values()] };
    for (const head of write.heads) this.pendingHeads.set(head.name, head);
    await this.commits.commit(write);
    for (const head of write.heads)
      if (this.pendingHeads.get(head.name) === head) this.pendingHeads.delete(head.name);
    for (const { streamNumber, revision } of write.records)
      this.pendingEvents.delete(eventKey(streamNumber, revision));
    const { revision, position } = draft.records.at(-1)!;
    return { kind: 'written', revision, position };
  }

  private async whenSettled(outcome: WriteOutcome): Promise<WriteOutcome> {
    await this.commits.settled();
    return outcome;
  }
}

const eventKey = (streamNumber: number, revision: bigint): string => `${revision}@${streamNumber}`;
