import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { askedTogether } from '#platform/postgres/asked-together.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { FIRST_VERSION, newestVersion } from '../domain/publication.decider.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from './publications.js';

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
