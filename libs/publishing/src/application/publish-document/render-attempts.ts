import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';

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
