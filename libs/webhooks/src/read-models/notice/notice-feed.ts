import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import { EACH_WANTED } from '../event-feed/each-wanted.js';

/** A notice as it is pushed. */
export interface FeedNotice {
  /** Its place in the feed, in decimal. */
  readonly position: string;
  readonly body: string;
}

/**
 * The notices of a workspace, in the order in which they were told. Transactions add them one at a time, so no notice ever
 * appears before one that was already read.
 */
@Injectable()
export class NoticeFeed {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** @param after position in decimal; `null`: from the first */
  async page(
    workspaceId: string,
    limit: number,
    after: string | null,
    types: readonly NoticeType[],
    modes: readonly Mode[],
  ): Promise<readonly FeedNotice[]> {
    const { rows } = await this.pool.query<FeedNotice>(
      `select told.position::text, told.body from ${EACH_WANTED} cross join lateral (
         select position, body from webhooks.notice
         where workspace_id = $1 and notice.livemode = wanted.livemode and notice.type = wanted.type
           and position > coalesce($2::bigint, -1)
         order by position limit $5
       ) told
       order by told.position limit $5`,
      [workspaceId, after, types, modes.map((mode) => mode === 'live'), limit],
    );
    return rows;
  }
}
