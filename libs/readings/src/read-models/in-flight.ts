import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, STEADY_CLOCK } from '#platform/tokens.js';
import type { Config } from '../settings.js';

/** How long a count is reused, milliseconds. Readings of this process are added to it meanwhile. */
const TRUSTED_MS = 250;
/** How long a count answers requests while the next one is under way, milliseconds. */
const USABLE_MS = 500;
const WORKSPACES = 10_000;

/** A request that this process admitted, and that has no row as far as it knows. */
export interface Admission {
  /** By the steady clock, milliseconds. */
  readonly at: number;
  /** Set when the reading is accepted: from then on it may have a row. */
  readingId?: string;
}

interface Count {
  /** Number of unfinished rows when they were counted. */
  readings: number;
  /** By the steady clock, milliseconds. */
  at: number;
  /** Oldest first; at most as many as a workspace may have in flight. */
  readonly withoutRow: Set<Admission>;
}

/**
 * Counts the queued and processing readings of a workspace in one mode: its rows, and the readings that this process admitted and
 * that have no row yet. It looks for the row of each, so no clock decides. Readings that other processes admitted and no
 * worker has projected are not counted.
 */
@Injectable()
export class ReadingsInFlight {
  private readonly counts = new LRUCache<string, Count>({ max: WORKSPACES });
  /** Counts under way, by workspace and mode: requests that come meanwhile wait for the same one. */
  private readonly underWay = new Map<string, Promise<Count>>();

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(STEADY_CLOCK) private readonly steady: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READING_TIMEOUT_MS'>,
  ) {}

  /** @returns the admission of one more reading, which counts until it has a row or is `withdrawn`; `null`: too many */
  async admit(workspaceId: string, livemode: boolean, limit: number): Promise<Admission | null> {
    const [admission] = (await this.admitMany(workspaceId, livemode, limit, 1)) ?? [];
    return admission ?? null;
  }

  /** The same for several at once: all of them or none. */
  async admitMany(
    workspaceId: string,
    livemode: boolean,
    limit: number,
    wanted: number,
  ): Promise<readonly Admission[] | null> {
    const latest = (known: Count): Count => this.counts.get(keyOf(workspaceId, livemode)) ?? known;
    const hasRoom = ({ readings, withoutRow }: Count): boolean =>
      readings + withoutRow.size + wanted <= limit;
    const count = latest(await this.current(workspaceId, livemode, limit));
    if (!hasRoom(count)) return null;
    const admissions = Array.from({ length: wanted }, () => ({ at: this.steady.now() }));
    for (const admission of admissions) count.withoutRow.add(admission);
    return admissions;
  }

  /** An admitted request has not become a reading. */
  withdrawn(workspaceId: string, livemode: boolean, admission: Admission): void {
    this.counts.get(keyOf(workspaceId, livemode))?.withoutRow.delete(admission);
  }

  private current(workspaceId: string, livemode: boolean, limit: number): Count | Promise<Count> {
    const known = this.counts.get(keyOf(workspaceId, livemode));
    const age = known ? this.steady.now() - known.at : Infinity;
    if (known && age < TRUSTED_MS) return known;
    const counting = this.counted(workspaceId, livemode, limit);
    if (!known || age >= USABLE_MS) return counting;
    // A count that fails is repeated by the next request.
    counting.catch(() => undefined);
    return known;
  }

  /** A count from now on, or the one that is under way. */
  private counted(workspaceId: string, livemode: boolean, limit: number): Promise<Count> {
    const key = keyOf(workspaceId, livemode);
    let counting = this.underWay.get(key);
    if (!counting) {
      counting = this.count(workspaceId, livemode, limit).finally(() => this.underWay.delete(key));
      this.underWay.set(key, counting);
    }
    return counting;
  }

  private async count(workspaceId: string, livemode: boolean, limit: number): Promise<Count> {
    const key = keyOf(workspaceId, livemode);
    const at = this.steady.now();
    const accepted = new Map<string, Admission>();
    for (const admission of this.counts.get(key)?.withoutRow ?? [])
      if (admission.readingId !== undefined) accepted.set(admission.readingId, admission);
    const { rows } = await this.pool.query<{ readings: number; known: string[] }>({
      name: 'readings-in-flight',
      text: `select count(*)::int as readings,
                    array(select reading_id::text from readings.reading where reading_id = any($3::uuid[])) as known
             from (select from readings.reading
                   where workspace_id = $1 and livemode = $4 and status in ('queued', 'processing') limit $2) unfinished`,
      values: [workspaceId, limit, [...accepted.keys()], livemode],
    });
    const latest = this.counts.get(key);
    const { readings = 0, known = [] } = rows[0] ?? {};
    // Others may have been admitted during the database query.
    const withoutRow = latest?.withoutRow ?? new Set();
    for (const readingId of known) withoutRow.delete(accepted.get(readingId)!);
    // A reading whose row never comes, because its stream is parked, has timed out by then.
    const oldest = this.steady.now() - this.config.READING_TIMEOUT_MS;
    for (const admission of withoutRow) {
      if (admission.at > oldest) break;
      withoutRow.delete(admission);
    }
    const count = { readings, at, withoutRow };
    this.counts.set(key, count);
    return count;
  }
}

const keyOf = (workspaceId: string, livemode: boolean): string =>
  `${livemode ? 'live' : 'test'}:${workspaceId}`;
