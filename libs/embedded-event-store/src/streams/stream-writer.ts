import { randomUUID } from 'node:crypto';
import type { GroupCommit } from '../log/group-commit.js';
import { FIRST_POSITION, type LogStore, type LogWrite, type NumberedRecord } from '../log/log-store.js';
import { encodeRecord, RecordKind, type ProposedEvent } from '../log/record.js';
import {
  decideAppend,
  decideRemoval,
  type ExpectedRevision,
  type PlacedEvent,
  type StreamFacts,
} from './append-decision.js';
import { DELETED_STREAM, NO_EVENTS, type Retention, type StreamHead } from './stream-head.js';
import {
  deletedMetadata,
  isMetastream,
  METADATA_TYPE,
  metastreamOf,
  originalOf,
  retentionOf,
  revivedMetadata,
} from './stream-metadata.js';

/** The outcome of an append, a delete or a tombstone; returned once it is durable. */
export type WriteOutcome =
  | { readonly kind: 'written'; readonly revision: bigint; readonly position: bigint | undefined }
  /** `current` is the stream's last revision, -1 if it has no events. */
  | { readonly kind: 'conflict'; readonly current: bigint }
  | { readonly kind: 'deleted' };

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

  /** Appends events to a stream. The caller has checked names and sizes. */
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly ProposedEvent[],
  ): Promise<WriteOutcome> {
    const facts = this.facts(stream);
    const decision = decideAppend(
      facts,
      expected,
      events.map(({ id }) => id),
    );
    switch (decision.kind) {
      case 'deleted':
        return this.whenSettled({ kind: 'deleted' });
      case 'conflict': {
        const conflict = { kind: 'conflict', current: facts.head?.last ?? NO_EVENTS } as const;
        return this.options.refusesAtOnce ? Promise.resolve(conflict) : this.whenSettled(conflict);
      }
      case 'repeated': {
        const { revision, position } = decision.last;
        if (facts.head && this.pendingEvents.has(eventKey(facts.head.number, revision))) return noAnswer();
        return this.whenSettled({ kind: 'written', revision, position });
      }
      case 'accept': {
        const draft: Draft = { records: [], heads: new Map() };
        if (events.length === 0) {
          return this.whenSettled({
            kind: 'written',
            revision: facts.head?.last ?? NO_EVENTS,
            position: undefined,
          });
        }
        if (decision.revives && facts.head) this.revive(draft, facts.head);
        this.place(draft, stream, events);
        return this.write(draft);
      }
    }
  }

  /** Writes the system events with which an EventStoreDB begins, so that its readers meet such events here too. */
  async writeFirstEvents(): Promise<void> {
    const draft: Draft = { records: [], heads: new Map() };
    this.placeMetadata(draft, '$scavenges', Buffer.from(JSON.stringify(SCAVENGES_METADATA)));
    await this.write(draft);
  }

  /** Soft delete: hides all events until the next append, which continues the numbering. */
  delete(stream: string, expected: ExpectedRevision): Promise<WriteOutcome> {
    return this.remove(stream, expected, (draft) => {
      this.placeMetadata(draft, stream, deletedMetadata());
    });
  }

  /** Closes a stream permanently: no event can be appended to it again. */
  tombstone(stream: string, expected: ExpectedRevision): Promise<WriteOutcome> {
    return this.remove(stream, expected, (draft) => {
      const head = this.headFor(draft, stream);
      const event = {
        id: randomUUID(),
        type: '$streamDeleted',
        contentType: 'application/octet-stream',
        data: Buffer.alloc(0),
        metadata: Buffer.alloc(0),
      };
      this.number(draft, head, event, DELETED_STREAM, RecordKind.Tombstone);
      draft.heads.set(stream, { ...head, tombstoned: true });
    });
  }

  private remove(
    stream: string,
    expected: ExpectedRevision,
    place: (draft: Draft) => void,
  ): Promise<WriteOutcome> {
    const decision = decideRemoval(this.facts(stream), expected);
    if (decision === 'deleted') return this.whenSettled({ kind: 'deleted' });
    if (decision === 'conflict') {
      return this.whenSettled({ kind: 'conflict', current: this.head(stream)?.last ?? NO_EVENTS });
    }
    const draft: Draft = { records: [], heads: new Map() };
    place(draft);
    return this.write(draft);
  }

  private facts(stream: string): StreamFacts {
    const own = this.head(stream);
    // A metadata stream is closed together with the stream it describes.
    const decisive = isMetastream(stream) ? this.head(originalOf(stream)) : own;
    return {
      head: own,
      closed: decisive?.tombstoned === true,
      at: (revision) =>
        own &&
        (this.pendingEvents.get(eventKey(own.number, revision)) ?? this.store.recordOf(own.number, revision)),
    };
  }

  private headFor(draft: Draft, stream: string): StreamHead {
    const known = draft.heads.get(stream) ?? this.head(stream);
    if (known) return known;
    // Only the last event of a metadata stream is visible.
    const retention: Retention = isMetastream(stream) ? { maxCount: 1n } : {};
    return { name: stream, number: this.nextStreamNumber++, last: NO_EVENTS, tombstoned: false, retention };
  }

  private place(draft: Draft, stream: string, events: readonly ProposedEvent[]): void {
    let head = this.headFor(draft, stream);
    for (const event of events) {
      head = { ...head, last: head.last + 1n };
      this.number(draft, head, event, head.last);
    }
    draft.heads.set(stream, head);
    const metadata = isMetastream(stream) ? events.findLast(({ type }) => type === METADATA_TYPE) : undefined;
    if (!metadata) return;
    const described = this.headFor(draft, originalOf(stream));
    draft.heads.set(described.name, { ...described, retention: retentionOf(metadata.data) });
  }

  private number(
    draft: Draft,
    head: StreamHead,
    event: ProposedEvent,
    revision: bigint,
    kind?: RecordKind,
  ): void {
    const createdAt = Math.max(this.options.now(), this.lastCreatedAt);
    this.lastCreatedAt = createdAt;
    const position = this.nextPosition;
    const bytes = encodeRecord(event, { stream: head.name, revision, position, createdAt }, kind);
    this.nextPosition += BigInt(bytes.length);
    draft.records.push({ streamNumber: head.number, revision, position, bytes });
    this.pendingEvents.set(eventKey(head.number, revision), { id: event.id, revision, position });
  }

  private placeMetadata(draft: Draft, stream: string, data: Buffer): void {
    const contentType = 'application/json';
    const event = { id: randomUUID(), type: METADATA_TYPE, contentType, data, metadata: Buffer.alloc(0) };
    this.place(draft, metastreamOf(stream), [event]);
  }

  /** Rewrites the metadata of a soft-deleted stream, so that only the events appended now are visible. */
  private revive(draft: Draft, head: StreamHead): void {
    const metastream = this.head(metastreamOf(head.name));
    const current = metastream && this.store.recordOf(metastream.number, metastream.last)?.data;
    this.placeMetadata(draft, head.name, revivedMetadata(current ?? deletedMetadata(), head.last + 1n));
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
