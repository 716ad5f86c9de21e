import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { PUBLICATION_EXECUTOR, type PublicationExecutor } from '../../publication.executor.js';

@Injectable()
export class PublicationQuery {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(PUBLICATION_EXECUTOR) private readonly executor: PublicationExecutor,
  ) {}

  /** The newest published version of a reading, or the one asked for; `null` when it is not published. */
  async published(readingId: string, version?: number): Promise<number | null> {
    const { rows } = await this.pool.query<{ version: number }>({
      name: 'published-version',
      text: `select version from publishing.publication
             where reading_id = $1 and published_at is not null and ($2::integer is null or version = $2)
             order by version desc limit 1`,
      values: [readingId, version ?? null],
    });
    return rows[0]?.version ?? this.publishedByStream(readingId, version);
  }

  /** The moment before the row is there, the stream knows. */
  private async publishedByStream(readingId: string, version?: number): Promise<number | null> {
    const { state } = await this.executor.load(readingId);
    const versions = [...state.published.keys()].filter((one) => version === undefined || one === version);
    return versions.length > 0 ? Math.max(...versions) : null;
  }
}
