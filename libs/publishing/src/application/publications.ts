import { Inject, Optional, Injectable } from '@nestjs/common';
import { CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { CommandExecutor } from '#event-sourcing/commands/command-executor.js';
import { type EventStore, scopedEventStore } from '#event-sourcing/store/event-store.js';
import { CLOCK } from '#platform/tokens.js';
import { WithdrawPublication } from '#readings/contracts/index.js';
import { GetPaper } from '#workspaces/contracts/index.js';
import { CONTENT_VERSION } from '../contracts/content-version.js';
import {
  type DocumentFormat,
  publicationEvents,
  type RemadeVersion,
  RemakeDocuments,
  RepublishDocument,
  type RepublishResult,
} from '../contracts/index.js';
import type { Edition } from '../document/render-document.js';
import {
  newestVersion,
  publicationDecider,
  type PublishedVersion,
  FIRST_VERSION,
} from '../domain/publication.decider.js';
import type { Typesetter } from '../pdf/typesetter.js';
import { artifactIdOf, ArtifactStore } from './artifact.store.js';
import type { Pool } from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { askedTogether } from '#platform/postgres/asked-together.js';
import { POSTGRES } from '#platform/postgres/pool.js';

/** Folded streams kept in memory, per process: the steps of one reading follow each other within a second. */
const CACHED_STREAMS = 256;

/** Executes commands on `publication-<readingId>` streams only. */
export const createPublicationExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [publicationEvents.category]),
    publicationEvents,
    publicationDecider,
    { cachedStreams: CACHED_STREAMS },
  );

export type PublicationExecutor = ReturnType<typeof createPublicationExecutor>;
export const PUBLICATION_EXECUTOR = Symbol('PublicationExecutor');

/** Versions that the document of a reading may have. */
export const MOST_VERSIONS = 20;

/**
 * Requests the next version. The publication's stream decides: of two requests at once, one is recorded, and both are
 * answered with its version. The worker makes it.
 */
@CommandHandler(RepublishDocument)
export class RepublishDocumentHandler implements ICommandHandler<RepublishDocument> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly queries: QueryBus,
    @Optional() private readonly most = MOST_VERSIONS,
  ) {}

  async execute({ readingId, workspaceId, options, by }: RepublishDocument): Promise<RepublishResult> {
    const version = newestVersion((await this.executor.load(readingId)).state) + 1;
    const paper = await this.queries.execute(new GetPaper(workspaceId));
    const at = this.clock.now();
    const decided = await this.executor.execute(
      readingId,
      {
        type: 'RequestNextVersion',
        publication: {
          workspaceId,
          version,
          artifactId: artifactIdOf(readingId, version),
          publishedAt: instant(at),
          paper,
        },
        most: this.most,
        unlessFrom: options.onlyIfTextsChanged ? CONTENT_VERSION : null,
      },
      { intent: `request:${version}`, by, workspaceId, at },
    );
    if (decided.kind === 'accepted') return { outcome: 'requested', version };
    if (decided.kind === 'ignored')
      return decided.reason === 'TextsUnchanged'
        ? { outcome: 'unchanged', version: newestVersion(decided.state) }
        : { outcome: 'under_way', version };
    return decided.code === 'TooManyVersions'
      ? { outcome: 'too_many_versions', most: decided.details.most }
      : { outcome: 'erased' };
  }
}

@CommandHandler(WithdrawPublication)
export class WithdrawPublicationHandler implements ICommandHandler<WithdrawPublication> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ readingId, workspaceId, by }: WithdrawPublication): Promise<void> {
    await this.executor.execute(
      readingId,
      { type: 'WithdrawPublication', workspaceId },
      { intent: 'withdraw', by, workspaceId, at: this.clock.now() },
    );
  }
}

/** Renders in this thread, for the operator's program: a service uses the threads of its renderer. */
@CommandHandler(RemakeDocuments)
export class RemakeDocumentsHandler implements ICommandHandler<RemakeDocuments> {
  constructor(
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
    private readonly artifacts: ArtifactStore,
  ) {}

  async execute({ readingId, result, dryRun }: RemakeDocuments): Promise<readonly RemadeVersion[]> {
    const { state } = await this.executor.load(readingId);
    const stored = await this.artifacts.stored(readingId);
    const made: RemadeVersion[] = [];
    for (const published of state.published.values()) {
      const { version, formats, contentVersion } = published;
      const known = stored.get(version) ?? [];
      const lost = formats.map(({ format }) => format).filter((format) => !known.includes(format));
      if (lost.length === 0) continue;
      const outcome = state.withdrawn
        ? 'erased'
        : await this.remake(readingId, published, lost, result, dryRun);
      made.push({ version, lost, outcome, contentVersion });
    }
    return made;
  }

  private async remake(
    readingId: string,
    { version, livemode, artifactId, publishedAt, paper, formats, contentVersion }: PublishedVersion,
    lost: readonly DocumentFormat[],
    result: Buffer,
    dryRun: boolean,
  ): Promise<RemadeVersion['outcome']> {
    const digests = new Map(formats.map(({ format, digest }) => [format, digest]));
    if (contentVersion !== CONTENT_VERSION) return 'texts_changed';
    const rendered = await render(result, { version, publishedAt, livemode, paper });
    const again: Partial<Record<DocumentFormat, Uint8Array>> = {};
    for (const format of lost) {
      const same = await this.artifacts.matches(readingId, rendered[format], digests.get(format)!);
      if (same === null) return 'erased';
      if (!same) return 'renders_differently';
      again[format] = rendered[format];
    }
    if (dryRun) return 'remade';
    const put = await this.artifacts.put({ readingId, version, artifactId, contentVersion }, again);
    return put ? 'remade' : 'erased';
  }
}

/** The texts and the typesetter load at the first use: no other command of this module needs them. */
const render = async (result: Buffer, edition: Edition) => {
  const { renderDocument } = await import('../document/render-document.js');
  const { createTypesetter } = await import('../pdf/typesetter.js');
  typesetter ??= createTypesetter();
  return renderDocument(result, edition, (document, paper) => typesetter!.typeset(document, paper));
};

let typesetter: Typesetter | undefined;

interface Wanted {
  readonly readingId: string;
  /** `null`: the newest. */
  readonly version: number | null;
}

/** What the rows know. `version`: the newest one, or the wanted one; `null` if it is not published. */
interface ByRow {
  readonly version: number | null;
  /** A later version was requested. It may be published by now, and other read models may show it already. */
  readonly may_be_behind: boolean;
}

type Found = number | 'due' | 'failed' | 'unknown';

@Injectable()
export class PublicationQuery {
  private readonly publishedByRow = askedTogether((wanted: readonly Wanted[]) => this.versions(wanted));

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
  ) {}

  /**
   * The newest published version of a reading, or the requested one. `due`: it is not published yet. `unknown`: it was
   * never requested. `failed`: it never will be.
   */
  async find(readingId: string, version?: number): Promise<Found> {
    const known = await this.publishedByRow({ readingId, version: version ?? null });
    if (known.version === null) return this.findInStream(readingId, version);
    if (!known.may_be_behind) return known.version;
    // Documents are shown also while the event store is away.
    return this.findInStream(readingId).catch((error: unknown) => {
      if (error instanceof StoreUnavailable) return known.version!;
      throw error;
    });
  }

  /**
   * Whether a row has the version, or any if it is undefined. Reads no stream, so it can be asked often; a row may be behind
   * its stream, so `find` decides.
   */
  async hasRow(readingId: string, version?: number): Promise<boolean> {
    return (await this.publishedByRow({ readingId, version: version ?? null })).version !== null;
  }

  /** Whether the stream says that the reading is erased, or about to be. */
  async isWithdrawn(readingId: string): Promise<boolean> {
    return (await this.executor.load(readingId)).state.withdrawn;
  }

  private async versions(wanted: readonly Wanted[]): Promise<readonly ByRow[]> {
    const { rows } = await this.pool.query<ByRow>({
      name: 'published-versions',
      text: `select (select version from publishing.publication
                     where reading_id = wanted.reading_id and published_at is not null
                       and (wanted.version is null or version = wanted.version)
                     order by version desc limit 1) as version,
                    wanted.version is null and exists (
                      select from publishing.republication where reading_id = wanted.reading_id) as may_be_behind
             from unnest($1::uuid[], $2::integer[]) with ordinality as wanted (reading_id, version, place)
             order by wanted.place`,
      values: [wanted.map(({ readingId }) => readingId), wanted.map(({ version }) => version)],
    });
    return rows;
  }

  /** While the row is missing or behind, the stream has the version. */
  private async findInStream(readingId: string, version?: number): Promise<Found> {
    const { state } = await this.executor.load(readingId);
    const wanted = version ?? Math.max(FIRST_VERSION, newestVersion(state));
    if (state.published.has(wanted)) return wanted;
    if (state.failed.has(wanted)) return 'failed';
    return wanted === FIRST_VERSION || state.pending.has(wanted) ? 'due' : 'unknown';
  }
}
