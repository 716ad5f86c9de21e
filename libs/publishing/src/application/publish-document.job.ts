import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import type { CommandContext } from '#event-sourcing/commands/command-executor.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { inSpan } from '#event-sourcing/tracing/tracing.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { isNotQueued, isNotRunning } from '#platform/jobs/rescue.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { METRICS } from '#platform/telemetry/metrics.js';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';
import { CLOCK, LOGGER } from '#platform/tokens.js';
import { TypesettingHung } from '#platform/typesetting/typesetting-pool.js';
import {
  GetPublicationTime,
  GetReadingResult,
  GetReadingSummary,
  type ReadingJob,
} from '#readings/contracts/index.js';
import { GetPaper, type Paper } from '#workspaces/contracts/index.js';
import { CONTENT_VERSION } from '../contracts/content-version.js';
import type { DocumentV1 } from '../document/document.js';
import { renderDocument } from '../document/render-document.js';
import { FIRST_VERSION, pendingVersion } from '../domain/publication.decider.js';
import type { PdfRenderer } from '../pdf/renderer.js';
import { PUBLISH_DOCUMENT } from '../processes.js';
import { artifactIdOf, ArtifactStore } from './artifact.store.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from './publications.js';

/** Attempts at a reading's document that have begun and not ended. One whose worker dies stays. */
@Injectable()
export class RenderAttempts {
  constructor(@Inject(POSTGRES) private readonly pool: Pick<Pool, 'query'>) {}

  /** @returns how many have begun and not ended, this one included */
  async begin(readingId: string): Promise<number> {
    const { rows } = await this.pool.query<{ begun: number }>(
      `insert into publishing.render_attempt as attempt (reading_id, begun) values ($1, 1)
       on conflict (reading_id) do update set begun = attempt.begun + 1 returning begun`,
      [readingId],
    );
    return rows[0]!.begun;
  }

  /** One has ended, in whatever way: the document does not end its worker. */
  async end(readingId: string): Promise<void> {
    await this.pool.query('delete from publishing.render_attempt where reading_id = $1', [readingId]);
  }
}

export const PDF_RENDERER = Symbol('PdfRenderer');

const KEY = `'${PUBLISH_DOCUMENT.task}:' || reading_id`;

/**
 * SQL: readings whose publication, first or later, is overdue without a job, the longest overdue first; at most $1. A job
 * that has run for half a minute may be that of a killed worker.
 */
export const OVERDUE_PUBLICATIONS = `
  select reading_id, workspace_id, correlation_id, is_later
  from (select reading_id, workspace_id, correlation_id, due_at, false as is_later from publishing.publication
        union all
        select reading_id, workspace_id, correlation_id, due_at, true from publishing.republication) as due
  where due_at < now() and ${isNotQueued(KEY)} and ${isNotRunning(KEY, '30 seconds')}
  order by due_at limit $1`;

/** Attempts at a document that ended its thread or whole worker; after them, it takes no other worker with it. */
const MOST_DEATHS = 3;

/** The document has ended a worker too often. */
class GivenUp extends Error {
  override readonly name = 'GivenUp';
}

const SHORTEST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * Until the next attempt at a document that cannot be made (ms): a tenth of the time since its request. The next version of
 * the program may make it; until then, its attempts must not take the typesetter from the others.
 */
const pauseAfterFailure = (ageMs: number): number =>
  Math.min(Math.max(ageMs / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);

/** What an error quotes may be a name. */
const QUOTED = /(["'`“]).*?["'`”]/gs;

/**
 * Publishes the version of a document that is due: one document tree in three formats. The formats are stored before `DocumentPublished`
 * is recorded, so a consumer of that event can fetch all of them. A retry after a crash renders the same bytes.
 *
 * Three kinds of reading are not published. When the publication was withdrawn meanwhile, the job deletes the stored
 * formats. When the reading's key is gone, as after restoring a backup older than the retention, or three attempts ended
 * their workers, the job records a failure.
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
    private readonly attempts: RenderAttempts,
  ) {}

  /** @throws NotDueYet when a test reading asked for a late publication, or the document cannot be made now */
  async run(job: ReadingJob): Promise<void> {
    const result = await this.queries.execute(new GetReadingResult(job.readingId));
    if (!result) return this.endWithoutResult(job);
    if (!result.livemode) await this.untilDue(job);
    const paper = await this.queries.execute(new GetPaper(result.workspaceId));
    const requested = await this.executor.execute(
      job.readingId,
      {
        type: 'RequestPublication',
        publication: {
          workspaceId: result.workspaceId,
          livemode: result.livemode,
          version: FIRST_VERSION,
          artifactId: artifactIdOf(job.readingId, FIRST_VERSION),
          publishedAt: instant(this.clock.now()),
          paper,
        },
      },
      this.context(job, `publish:${FIRST_VERSION}`),
    );
    const version = pendingVersion(requested.state);
    if (version === null || requested.state.failed.has(version)) return;
    const pending = requested.state.pending.get(version)!;
    const rendered = await inSpan('render the document', {}, () =>
      renderDocument(result.bytes, pending, (document, paper) => this.typeset(job, document, paper)),
    ).catch((error: unknown) => {
      if (error instanceof GivenUp) return null;
      // Not the document's fault.
      if (isDependencyAway(error)) throw error;
      return this.putOff(job, pending, error);
    });
    if (!rendered) return this.giveUp(job, version);
    const edition = { readingId: job.readingId, contentVersion: CONTENT_VERSION, ...pending };
    const stored = await this.artifacts.put(edition, rendered);
    if (!stored) return this.endIfErased(job);
    const recorded = await this.executor.execute(
      job.readingId,
      { type: 'RecordPublished', version, ...stored },
      this.context(job, `published:${version}`),
    );
    if (recorded.kind === 'rejected') {
      // Earlier versions stay.
      if (recorded.code === 'Withdrawn') await this.artifacts.discard(job.readingId);
      return;
    }
    this.log.info({ readingId: job.readingId, requestId: job.correlationId, version }, 'reading published');
  }

  /** A worker that dies of the document leaves its attempt counted, and so does a thread that had to be ended. */
  private async typeset({ readingId }: ReadingJob, document: DocumentV1, paper: Paper): Promise<Uint8Array> {
    let hasBegun = false;
    const begin = async (): Promise<void> => {
      if ((await this.attempts.begin(readingId)) > MOST_DEATHS) throw new GivenUp();
      hasBegun = true;
    };
    const pdf = this.pdf.render(document, paper, begin);
    const error: unknown = await pdf.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (hasBegun && !(error instanceof TypesettingHung)) await this.attempts.end(readingId);
    return pdf;
  }

  private async giveUp(job: ReadingJob, version: number): Promise<void> {
    const { readingId, workspaceId, correlationId: requestId } = job;
    await this.executor.execute(
      readingId,
      { type: 'FailPublication', workspaceId, version, code: 'generation_failed' },
      this.context(job, `publish-failed:${version}`),
    );
    await this.attempts.end(readingId);
    this.log.error({ readingId, requestId, version }, 'a document is given up: it ended its workers');
  }

  private async untilDue({ readingId }: ReadingJob): Promise<void> {
    const due = await this.queries.execute(new GetPublicationTime(readingId));
    const remainingMs = due === null ? 0 : Date.parse(due) - this.clock.now();
    if (remainingMs > 0) throw new NotDueYet(remainingMs);
  }

  /** Whatever the error, waiting in the queue costs nothing, and the log says that it lasts. */
  private putOff(
    { readingId, correlationId: requestId }: ReadingJob,
    { version, publishedAt }: { readonly version: number; readonly publishedAt: string },
    error: unknown,
  ): never {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    const reason = `${name}: ${message.replaceAll(QUOTED, '…')}`;
    this.log.error({ readingId, requestId, version, reason }, 'a document cannot be made; it is tried again');
    throw new NotDueYet(pauseAfterFailure(this.clock.now() - Date.parse(publishedAt)));
  }

  /** A completed reading without a result, not erased, has lost its key. It is never published. */
  private async endWithoutResult(job: ReadingJob): Promise<void> {
    const { readingId, workspaceId } = job;
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (reading?.status !== 'completed' || reading.erasedAt) return this.endIfErased(job);
    const version = pendingVersion((await this.executor.load(readingId)).state) ?? FIRST_VERSION;
    const { kind, state } = await this.executor.execute(
      readingId,
      { type: 'FailPublication', workspaceId, version, code: 'result_unreadable' },
      this.context(job, `publish-failed:${version}`),
    );
    if (kind === 'accepted')
      this.log.warn(
        { readingId, requestId: job.correlationId, version },
        'completed reading not published: its key is gone',
      );
    // Not accepted: it was already published, has already failed, or is being erased.
    if (state.published.size === 0) await this.artifacts.discard(readingId);
  }

  /** Deletes the artifacts of an erased reading. Else throws to retry the job, since the projection may be behind. */
  private async endIfErased({ readingId }: ReadingJob): Promise<void> {
    const reading = await this.queries.execute(new GetReadingSummary(readingId));
    if (reading?.erasedAt) return this.artifacts.discard(readingId);
    throw new Error('The result of this reading cannot be read yet');
  }

  private context(job: ReadingJob, intent: string): CommandContext {
    const by = causedBy(job, 'publishing.publication');
    return { intent, by, workspaceId: job.workspaceId, at: this.clock.now() };
  }
}

const OVERDUE = `
  select count(*)::float8 as overdue, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest
  from (select due_at from publishing.publication where due_at < now()
        union all
        select due_at from publishing.republication where due_at < now()) as late`;

/**
 * Documents that are not made in time, the same for every worker. One that cannot be made never ends a publication, so no
 * duration shows it, and its job waits in between, so no queue does.
 */
@Injectable()
export class PublicationMetrics {
  constructor(@Inject(POSTGRES) pool: Pick<Pool, 'query'>, @Inject(METRICS) registry: Registry) {
    scrapedGauges(
      registry,
      'publications',
      {
        publications_overdue: { help: 'Documents whose jobs count as lost: 30 s after they were asked for' },
        publications_oldest_overdue_seconds: { help: 'How long the oldest of them has been overdue' },
      },
      async () => {
        const { rows } = await pool.query<{ overdue: number; oldest: number }>(OVERDUE);
        const { overdue, oldest } = rows[0]!;
        return {
          publications_overdue: [{ value: overdue }],
          publications_oldest_overdue_seconds: [{ value: oldest }],
        };
      },
    );
  }
}
