import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { POSTGRES } from '../postgres/pool.js';

/** Identifies the request: the same key of another workspace or route is another request. */
export interface RequestIdentity {
  readonly workspaceId: string;
  /** Method and path. */
  readonly route: string;
  readonly keyDigest: Buffer;
}

export interface KeptAnswer {
  readonly status: number;
  readonly location: string | null;
  /** JSON, or null for an answer without a body. */
  readonly body: string | null;
}

export type Begun =
  | { readonly outcome: 'begun' }
  | { readonly outcome: 'in_progress' }
  | { readonly outcome: 'another_body' }
  | { readonly outcome: 'answered'; readonly answer: KeptAnswer };

/** A request in progress for longer than this was lost with its process and may be repeated. */
const LOST_AFTER = '60 seconds';
const KEPT_FOR = '7 days';

interface Row {
  readonly mine: boolean;
  readonly same: boolean;
  readonly status: number | null;
  readonly location: string | null;
  readonly body: string | null;
}

/** Remembers the answers to requests that carry an Idempotency-Key. */
@Injectable()
export class IdempotentRequests {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  /** Claims the key for this request, or returns the state of the request that has it. Atomic, in one statement. */
  async begin({ workspaceId, route, keyDigest }: RequestIdentity, fingerprint: Buffer): Promise<Begun> {
    const { rows } = await this.pool.query<Row>(
      `with claimed as (
         insert into platform.idempotent_request as request (workspace_id, route, key_digest, fingerprint)
         values ($1, $2, $3, $4)
         on conflict (workspace_id, route, key_digest) do update
           set started_at = now(), fingerprint = excluded.fingerprint, status = null, location = null, body = null
           where (request.status is null and request.started_at < now() - interval '${LOST_AFTER}')
              or request.started_at < now() - interval '${KEPT_FOR}'
         returning 1)
       select true as mine, true as same, null::int as status, null as location, null as body from claimed
       union all
       select false, fingerprint = $4, status, location, body from platform.idempotent_request
       where workspace_id = $1 and route = $2 and key_digest = $3 and not exists (select 1 from claimed)`,
      [workspaceId, route, keyDigest, fingerprint],
    );
    const [row] = rows;
    // Another request claimed and released the key during this statement: the caller retries.
    if (!row) return { outcome: 'in_progress' };
    if (row.mine) return { outcome: 'begun' };
    if (!row.same) return { outcome: 'another_body' };
    const { status, location, body } = row;
    return status === null
      ? { outcome: 'in_progress' }
      : { outcome: 'answered', answer: { status, location, body } };
  }

  /** Stores the answer of a started request. */
  async finish({ workspaceId, route, keyDigest }: RequestIdentity, answer: KeptAnswer): Promise<void> {
    await this.pool.query(
      `update platform.idempotent_request set status = $4, location = $5, body = $6
       where workspace_id = $1 and route = $2 and key_digest = $3`,
      [workspaceId, route, keyDigest, answer.status, answer.location, answer.body],
    );
  }

  /** Releases the key: the request did not succeed and may be repeated. */
  async giveUp({ workspaceId, route, keyDigest }: RequestIdentity): Promise<void> {
    await this.pool.query(
      `delete from platform.idempotent_request
       where workspace_id = $1 and route = $2 and key_digest = $3 and status is null`,
      [workspaceId, route, keyDigest],
    );
  }

  /** Deletes answers older than seven days. @returns how many */
  async forget(): Promise<number> {
    const { rowCount } = await this.pool.query(
      `delete from platform.idempotent_request where started_at < now() - interval '${KEPT_FOR}'`,
    );
    return rowCount ?? 0;
  }
}
