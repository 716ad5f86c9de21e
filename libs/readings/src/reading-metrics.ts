import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Counter, Histogram, type Registry } from 'prom-client';
import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { LOGGER } from '#platform/tokens.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { FAILURE_CODES, readingEvents } from './contracts/events.js';
import type { PublicationFeed, PublishedDocument } from './contracts/ports.js';
import { GENERATION } from './application/generate-reading.js';
import { READING_PROJECTION } from './projections.js';

const PUBLISHED: keyof PublicationFeed['definitions'] = 'DocumentPublished';
const SECONDS = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1_800, 3_600];

/**
 * Counts accepted and ended readings in the log. The worker that moves the checkpoint counts each event once, whichever
 * process recorded it. Test readings are counted apart: their owners ask them to fail or to take long, which must alarm
 * nobody.
 */
@Injectable()
export class ReadingMetrics implements OnModuleInit {
  private readonly accepted: Counter<'mode'>;
  private readonly completed: Counter<'mode'>;
  private readonly failed: Counter<'mode' | 'code'>;
  private readonly seconds: Histogram<'mode'>;

  constructor(
    private readonly work: WorkRegistry,
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(METRICS) registry: Registry,
    @Inject(LOGGER) private readonly log: Pick<Logger, 'debug'>,
  ) {
    const registers = [registry];
    const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name, help, labelNames, registers });
    this.accepted = counter('readings_accepted_total', 'Readings accepted', 'mode');
    this.completed = counter('readings_completed_total', 'Readings completed', 'mode');
    this.failed = counter('readings_failed_total', 'Readings that failed permanently', 'mode', 'code');
    this.seconds = new Histogram({
      name: 'reading_publication_duration_seconds',
      help: 'Time from the acceptance of a reading to its publication',
      buckets: SECONDS,
      labelNames: ['mode'],
      registers,
    });
    for (const mode of MODES) {
      for (const counter of [this.accepted, this.completed]) counter.inc({ mode }, 0);
      for (const code of FAILURE_CODES) this.failed.inc({ mode, code }, 0);
      this.seconds.zero({ mode });
    }
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
      if (event.type === 'ReadingRequested') this.accepted.inc(modeOf(event.data));
      if (event.type === 'ReadingCompleted') this.completed.inc(modeOf(event.data));
      if (event.type === 'ReadingFailed') this.failed.inc({ ...modeOf(event.data), code: event.data.code });
    }
  }

  private async takeTime(events: readonly StoredEvent[]): Promise<void> {
    // A later version says nothing about the time that the reading took.
    const published = events.filter(
      ({ type, data }) => type === PUBLISHED && (data as Partial<PublishedDocument>).version === 1,
    );
    if (published.length === 0) return;
    const { rows } = await this.pool.query<{ reading_id: string; created_at: Date; livemode: boolean }>(
      'select reading_id, created_at, livemode from readings.reading where reading_id = any ($1)',
      [published.map(({ stream }) => streamId(stream))],
    );
    const byId = new Map(rows.map((row) => [row.reading_id, row]));
    for (const { stream, metadata } of published) {
      const row = byId.get(streamId(stream));
      if (row)
        this.seconds.observe(
          modeOf(row),
          (Date.parse(metadata.occurredAt) - row.created_at.getTime()) / 1_000,
        );
    }
  }
}

const modeOf = ({ livemode }: { readonly livemode: boolean }): { readonly mode: Mode } => ({
  mode: livemode ? 'live' : 'test',
});
