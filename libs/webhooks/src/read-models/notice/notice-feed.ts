import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import { unionOfEach } from '../event-feed/union-of-each.js';

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
    if (modes.length === 0) return [];
    const { rows } = await this.pool.query<FeedNotice>(
      `select told.position::text, told.body from (${unionOfEach(
        types,
        modes,
        (ofEach) => `
          select position, body from webhooks.notice
          where workspace_id = $1 and ${ofEach} and position > coalesce($2::bigint, -1)
          order by position limit $3`,
      )}) told
       order by told.position limit $3`,
      [workspaceId, after, limit],
    );
    return rows;
  }
}
