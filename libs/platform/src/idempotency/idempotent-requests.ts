import { Inject, Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { POSTGRES } from '../postgres/pool.js';
import { forgetOlder } from '../retention/rows.js';

/** Identifies the request: the same key of another workspace, mode or route is another request. */
export interface RequestIdentity {
  readonly workspaceId: string;
  /** Method and path. */
  readonly route: string;
  /** Of the key; with its caller, where the answer has a secret. */
  readonly keyDigest: Buffer;
}

/** A request that is in progress. After `LOST_AFTER` another one may claim its key. */
export interface Claim extends RequestIdentity {
  /** When it began, to the microsecond. */
  readonly startedAt: string;
  /** Random bytes, the same for every attempt at the request until one is answered. */
  readonly seed: Buffer;
  /** Whether an earlier attempt has not ended, or has failed: it may have done its work. */
  readonly again: boolean;
}

export interface KeptAnswer {
  readonly status: number;
  readonly location: string | null;
  /** JSON, or null for an answer without a body. */
  readonly body: string | null;
}

export type Begun =
  | { readonly outcome: 'begun'; readonly claim: Claim }
  | { readonly outcome: 'in_progress' }
  | { readonly outcome: 'another_body' }
  | { readonly outcome: 'answered'; readonly answer: KeptAnswer };

/** A request in progress for longer than this was lost with its process, and may be repeated. */
const LOST_AFTER = '60 seconds';
const KEPT_FOR = '7 days';
const SEED_BYTES = 32;

/** SQL: the row of a claim that still has its key. */
const OF_CLAIM = `
  where workspace_id = $1 and route = $2 and key_digest = $3 and started_at = $4::timestamptz and status is null`;
const valuesOf = ({ workspaceId, route, keyDigest, startedAt }: Claim): unknown[] => [
  workspaceId,
  route,
  keyDigest,
  startedAt,
];

interface Row {
  /** Of this request, if it has the key. */
  readonly started_at: string | null;
  readonly seed: Buffer | null;
  readonly same: boolean;
  readonly status: number | null;
  readonly location: string | null;
  readonly body: string | null;
}

/** Remembers the answers to requests that carry an Idempotency-Key. */
@Injectable()
export class IdempotentRequests {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  /**
   * Claims the key for this request, or returns the state of the request that has it. Atomic, in one statement. A lost or
   * failed request leaves the key to the same request only, with its seed.
   */
  async begin(identity: RequestIdentity, fingerprint: Buffer): Promise<Begun> {
    const { workspaceId, route, keyDigest } = identity;
    const fresh = randomBytes(SEED_BYTES);
    const { rows } = await this.pool.query<Row>(
      `with claimed as (
         insert into platform.idempotent_request as request (workspace_id, route, key_digest, fingerprint, seed)
         values ($1, $2, $3, $4, $5)
         on conflict (workspace_id, route, key_digest) do update
           set started_at = now(), fingerprint = excluded.fingerprint, status = null, location = null, body = null,
               seed = case when request.started_at < now() - interval '${KEPT_FOR}' then excluded.seed
                           else coalesce(request.seed, excluded.seed) end
           where (request.status is null and request.fingerprint = excluded.fingerprint
                  and request.started_at < now() - interval '${LOST_AFTER}')
              or request.started_at < now() - interval '${KEPT_FOR}'
         returning started_at, seed)
       select started_at::text, seed, true as same, null::int as status, null as location, null as body from claimed
       union all
       select null, null, fingerprint = $4, status, location, body from platform.idempotent_request
       where workspace_id = $1 and route = $2 and key_digest = $3 and not exists (select 1 from claimed)`,
      [workspaceId, route, keyDigest, fingerprint, fresh],
    );
    const [row] = rows;
    // Another request claimed and released the key during this statement: the caller retries.
    if (!row) return { outcome: 'in_progress' };
    if (row.started_at !== null) {
      const seed = row.seed ?? fresh;
      return {
        outcome: 'begun',
        claim: { ...identity, startedAt: row.started_at, seed, again: !seed.equals(fresh) },
      };
    }
    if (!row.same) return { outcome: 'another_body' };
    const { status, location, body } = row;
    return status === null
      ? { outcome: 'in_progress' }
      : { outcome: 'answered', answer: { status, location, body } };
  }

  /**
   * Stores the answer of a request, unless another one has claimed its key since. Its seed goes: nothing derives from it
   * any more.
   */
  async finish(claim: Claim, answer: KeptAnswer): Promise<void> {
    await this.pool.query(
      `update platform.idempotent_request set status = $5, location = $6, body = $7, seed = null ${OF_CLAIM}`,
      [...valuesOf(claim), answer.status, answer.location, answer.body],
    );
  }

  /** Releases the key, unless another request has claimed it since: this one did nothing. */
  async giveUp(claim: Claim): Promise<void> {
    await this.pool.query(`delete from platform.idempotent_request ${OF_CLAIM}`, valuesOf(claim));
  }

  /** Leaves the key to the next attempt at the same request: this one failed, and may have done its work. */
  async leave(claim: Claim): Promise<void> {
    await this.pool.query(
      `update platform.idempotent_request set started_at = started_at - 2 * interval '${LOST_AFTER}' ${OF_CLAIM}`,
      valuesOf(claim),
    );
  }

  /** Deletes answers older than seven days. @returns how many */
  forget(signal: AbortSignal): Promise<number> {
    const answers = { table: 'platform.idempotent_request', at: 'started_at' };
    return forgetOlder(this.pool, answers, KEPT_FOR, signal);
  }
}
