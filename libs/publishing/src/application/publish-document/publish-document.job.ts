import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { Logger } from 'pino';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import { causedBy } from '@app/event-sourcing/core/request-context.js';
import type { CommandContext } from '@app/event-sourcing/handling/command-context.js';
import { inSpan } from '@app/event-sourcing/tracing/tracing.js';
import type { ReadingResult } from '@app/numerology/index.js';
import { NotDueYet } from '@app/platform/jobs/not-due-yet.js';
import { LOGGER } from '@app/platform/telemetry/logger.js';
import { CLOCK } from '@app/platform/tokens.js';
import {
  GetPublicationTime,
  GetReadingResult,
  GetReadingSummary,
  type ReadingJob,
} from '@app/readings/contracts/index.js';
import { ArtifactStore } from '../../artifacts/artifact.store.js';
import { composeDocument } from '../../document/compose.js';
import type { DataOf } from '../../domain/publication/publication.commands.js';
import { renderMarkdown } from '../../markdown/render.js';
import type { PdfRenderer } from '../../pdf/renderer.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from '../../publication.executor.js';

export const PDF_RENDERER = Symbol('PdfRenderer');

/** SQL: completed readings whose publication is overdue, the longest overdue first; at most $1. */
export const OVERDUE_PUBLICATIONS = `
  select reading_id, workspace_id, correlation_id from publishing.publication
  where due_at < now() order by due_at limit $1`;

/** The first version of every reading. A later version would be published beside it. */
const VERSION = 1;

/**
 * Publishes a completed reading: one document tree in three formats. The formats are stored before `DocumentPublished`
 * is recorded, so a consumer of that event can fetch all of them. A retry after a crash renders the same bytes.
 *
 * Two kinds of reading are not published. When the publication was withdrawn meanwhile, the job deletes the stored
 * formats. When the reading's key is gone, as after restoring a backup older than the retention, the job records a
 * failure.
 */
@Injectable()
export class PublishDocumentJob {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(PDF_RENDERER) private readonly pdf: PdfRenderer,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly log: Logger,
    private readonly queries: QueryBus,
    private readonly artifacts: ArtifactStore,
  ) {}

  /** @throws NotDueYet when a test reading asked for a late publication */
  async run(job: ReadingJob): Promise<void> {
    const result = await this.queries.execute(new GetReadingResult(job.readingId));
    if (!result) return this.endWithoutResult(job);
    if (!result.livemode) await this.untilDue(job);
    const requested = await this.executor.execute(
      job.readingId,
      {
        type: 'RequestPublication',
        publication: {
          workspaceId: result.workspaceId,
          livemode: result.livemode,
          version: VERSION,
          artifactId: `art_${uuid5(job.readingId, 'artifact', String(VERSION))}`,
          publishedAt: instant(this.clock.now()),
        },
      },
      this.context(job, `publish:${VERSION}`),
    );
    const pending = requested.state.pending.get(VERSION);
    if (!pending) return;
    const rendered = await inSpan('render the document', {}, () =>
      this.render(JSON.parse(result.bytes.toString('utf8')) as ReadingResult, pending),
    );
    const formats = await this.artifacts.put({ readingId: job.readingId, ...pending }, rendered);
    if (!formats) return this.endIfErased(job);
    const recorded = await this.executor.execute(
      job.readingId,
      { type: 'RecordPublished', version: VERSION, formats },
      this.context(job, `published:${VERSION}`),
    );
    if (recorded.kind === 'rejected') return this.artifacts.discard(job.readingId);
    this.log.info(
      { readingId: job.readingId, requestId: job.correlationId, version: VERSION },
      'reading published',
    );
  }

  private async untilDue({ readingId }: ReadingJob): Promise<void> {
    const due = await this.queries.execute(new GetPublicationTime(readingId));
    const remainingMs = due === null ? 0 : Date.parse(due) - this.clock.now();
    if (remainingMs > 0) throw new NotDueYet(remainingMs);
  }

  /** A completed reading without a result, not erased, has lost its key. It is never published. */
  private async endWithoutResult(job: ReadingJob): Promise<void> {
    const { readingId, workspaceId } = job;
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (reading?.status !== 'completed' || reading.erasedAt) return this.endIfErased(job);
    const { kind, state } = await this.executor.execute(
      readingId,
      { type: 'FailPublication', workspaceId, version: VERSION, code: 'result_unreadable' },
      this.context(job, `publish-failed:${VERSION}`),
    );
    if (kind === 'accepted')
      this.log.warn(
        { readingId, requestId: job.correlationId },
        'completed reading not published: its key is gone',
      );
    // Not accepted: it was already published, has already failed, or is being erased.
    if (!state.published.has(VERSION)) await this.artifacts.discard(readingId);
  }

  /** Deletes the artifacts of an erased reading. Else throws to retry the job, since the projection may be behind. */
  private async endIfErased({ readingId }: ReadingJob): Promise<void> {
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (reading?.erasedAt) return this.artifacts.discard(readingId);
    throw new Error('The result of this reading cannot be read yet');
  }

  private async render(
    result: ReadingResult,
    { publishedAt, livemode }: Pick<DataOf<'PublicationRequested'>, 'publishedAt' | 'livemode'>,
  ) {
    const document = composeDocument(result, { publishedAt, livemode });
    return {
      document_v1: Buffer.from(JSON.stringify(document)),
      markdown: Buffer.from(renderMarkdown(document)),
      pdf: await this.pdf.render(document),
    };
  }

  private context(job: ReadingJob, intent: string): CommandContext {
    const by = causedBy(job, 'publishing.publication');
    return { intent, by, workspaceId: job.workspaceId, at: this.clock.now() };
  }
}
