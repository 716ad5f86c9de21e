import { randomUUID } from 'node:crypto';
import type { LogStore } from '../log/log-store.js';
import { resolveLink, type ResolvedRecord } from '../reads/resolve-link.js';
import { firstVisible, readStreamPage, streamStatus } from '../reads/stream-page.js';
import { METADATA_TYPE, metastreamOf } from '../streams/stream-metadata.js';
import type { StreamWriter } from '../streams/stream-writer.js';

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** The messages that consumers gave up on. They are links in a stream, which is truncated as they are replayed. */
export class ParkedMessages {
  constructor(
    private readonly stream: string,
    private readonly store: LogStore,
    private readonly writer: StreamWriter,
    private readonly now: () => number,
  ) {}

  count(): bigint {
    const status = streamStatus(this.store, this.stream);
    return status.kind === 'found' ? status.head.last - firstVisible(status.head) + 1n : 0n;
  }

  /** Resolves when the link is durable. */
  async park({ event, link }: ResolvedRecord, reason: string): Promise<void> {
    const parked = event ?? link;
    if (!parked) return;
    const added = new Date(this.now()).toISOString();
    await this.writer.append(this.stream, 'any', [
      {
        id: randomUUID(),
        type: '$>',
        contentType: 'application/octet-stream',
        data: Buffer.from(`${String(parked.revision)}@${parked.stream}`),
        metadata: json({ added, reason, subscriptionEventNumber: Number(parked.revision) }),
      },
    ]);
  }

  /** Parked messages, starting at a revision of the parked stream. */
  read(from: bigint, limit: number): readonly (ResolvedRecord & { readonly parkedAt: bigint })[] {
    const status = streamStatus(this.store, this.stream);
    if (status.kind !== 'found') return [];
    const page = readStreamPage(this.store, status.head, { from, limit, backwards: false, now: this.now() });
    return page.records.map((record) => ({
      ...resolveLink(this.store, record, true),
      parkedAt: record.revision,
    }));
  }

  /** Discards the messages before a revision of the parked stream. */
  async truncate(before: bigint): Promise<void> {
    const event = {
      id: randomUUID(),
      type: METADATA_TYPE,
      contentType: 'application/json',
      data: json({ $tb: Number(before) }),
      metadata: Buffer.alloc(0),
    };
    await this.writer.append(metastreamOf(this.stream), 'any', [event]);
  }

  async remove(): Promise<void> {
    if (streamStatus(this.store, this.stream).kind === 'found') await this.writer.delete(this.stream, 'any');
  }
}
