import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Counter, Histogram, type Registry } from 'prom-client';
import { decodeOrShow, isOpaque } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { LOGGER } from '@app/platform/tokens.js';
import { METRICS } from '@app/platform/telemetry/metrics.js';
import { WorkRegistry } from '@app/platform/work/work-registry.js';
import { FAILURE_CODES, readingEvents } from '../contracts/events.js';
import type { PublicationFeed, PublishedDocument } from '../contracts/ports/index.js';
import { GENERATION } from '../processes/generation.process.js';
import { READING_PROJECTION } from '../read-models/reading/reading.projection.js';

const PUBLISHED: keyof PublicationFeed['definitions'] = 'DocumentPublished';
const SECONDS = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 3_600];

/**
 * Counts accepted and ended readings in the log. The worker that moves the checkpoint counts each event once, whichever
 * process recorded it.
 */
@Injectable()
export class ReadingMetrics implements OnModuleInit {
  private readonly accepted: Counter;
  private readonly completed: Counter;
  private readonly failed: Counter<'code'>;
  private readonly seconds: Histogram;

  constructor(
    private readonly work: WorkRegistry,
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(METRICS) registry: Registry,
    @Inject(LOGGER) private readonly log: Pick<Logger, 'debug'>,
  ) {
    const registers = [registry];
    this.accepted = new Counter({ name: 'readings_accepted_total', help: 'Readings accepted', registers });
    this.completed = new Counter({ name: 'readings_completed_total', help: 'Readings completed', registers });
    this.failed = new Counter({
      name: 'readings_failed_total',
      help: 'Readings that failed permanently',
      labelNames: ['code'],
      registers,
    });
    for (const code of FAILURE_CODES) this.failed.inc({ code }, 0);
    this.seconds = new Histogram({
      name: 'reading_publication_duration_seconds',
      help: 'Time from the acceptance of a reading to its publication',
      buckets: SECONDS,
      registers,
    });
  }

  onModuleInit(): void {
    this.work.onHandled(GENERATION, (events) => this.count(events));
    this.work.onHandled(READING_PROJECTION, (events) => {
      this.takeTime(events).catch((error: unknown) =>
        this.log.debug({ reason: (error as Error).name }, 'the time to publication was not measured'),
      );
    });
  }

  private count(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      if (categoryOf(stored.stream) !== readingEvents.category) continue;
      const event = decodeOrShow(readingEvents, stored);
      if (isOpaque(event)) continue;
      if (event.type === 'ReadingRequested') this.accepted.inc();
      if (event.type === 'ReadingCompleted') this.completed.inc();
      if (event.type === 'ReadingFailed') this.failed.inc({ code: event.data.code });
    }
  }

  private async takeTime(events: readonly StoredEvent[]): Promise<void> {
    // A later version says nothing about the time that the reading took.
    const published = events.filter(
      ({ type, data }) => type === PUBLISHED && (data as Partial<PublishedDocument>).version === 1,
    );
    if (published.length === 0) return;
    const { rows } = await this.pool.query<{ reading_id: string; created_at: Date }>(
      'select reading_id, created_at from readings.reading where reading_id = any ($1)',
      [published.map(({ stream }) => streamId(stream))],
    );
    const acceptedAt = new Map(rows.map((row) => [row.reading_id, row.created_at.getTime()]));
    for (const { stream, metadata } of published) {
      const from = acceptedAt.get(streamId(stream));
      if (from !== undefined) this.seconds.observe((Date.parse(metadata.occurredAt) - from) / 1_000);
    }
  }
}
