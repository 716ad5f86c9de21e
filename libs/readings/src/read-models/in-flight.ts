import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Clock } from '#event-sourcing/core/clock.js';
import { askedTogether } from '#platform/postgres/asked-together.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, STEADY_CLOCK } from '#platform/tokens.js';
import type { Config } from '../settings.js';

/** A request that this process admitted, and that has no row as far as it knows. */
export interface Admission {
  /** By the steady clock, milliseconds. */
  readonly at: number;
  /** Set when the reading is accepted: from then on it may have a row. */
  readingId?: string;
}

/** Readings whose rows one statement looks for: the oldest, since rows come about in the order of acceptance. */
const ASKED_FOR = 256;

interface Owner {
  readonly workspaceId: string;
  readonly livemode: boolean;
}

/**
 * Counts the queued and processing readings of a workspace in one mode: its rows, and the readings that this process
 * admitted and that have no row yet. Readings that other processes admitted and no worker has projected are not counted.
 */
@Injectable()
export class ReadingsInFlight {
  /** By workspace and mode, oldest first; at most as many as may be in flight. */
  private readonly withoutRow = new Map<string, Set<Admission>>();
  private readonly unfinished = askedTogether((asked: readonly Owner[]) => this.rowsOf(asked));

  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(STEADY_CLOCK) private readonly steady: Clock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READINGS_IN_FLIGHT' | 'READING_TIMEOUT_MS'>,
  ) {}

  /**
   * Admits so many readings, all of them or none. Each counts until it has a row, or until its request has `ended` without it.
   * @returns `null`: too many
   */
  async admit(workspaceId: string, livemode: boolean, wanted: number): Promise<readonly Admission[] | null> {
    const limit = this.config.READINGS_IN_FLIGHT;
    const key = keyOf(workspaceId, livemode);
    const rows = await this.unfinished({ workspaceId, livemode });
    const admitted = this.withoutRow.get(key) ?? new Set();
    if (rows + admitted.size + wanted > limit) return null;
    const admissions = Array.from({ length: wanted }, () => ({ at: this.steady.now() }));
    for (const admission of admissions) admitted.add(admission);
    this.withoutRow.set(key, admitted);
    return admissions;
  }

  /** @param accepted the readings that the admitted request became; its other admissions count no more */
  ended(
    workspaceId: string,
    livemode: boolean,
    admissions: readonly Admission[],
    accepted: readonly string[],
  ): void {
    for (const [index, admission] of admissions.entries()) {
      const readingId = accepted[index];
      if (readingId === undefined) this.forget(keyOf(workspaceId, livemode), admission);
      else admission.readingId = readingId;
    }
  }

  /** Counts the rows of each workspace and mode once, however many requests ask. */
  private rowsOf(asked: readonly Owner[]): Promise<readonly number[]> {
    const counts = new Map<string, Promise<number>>();
    for (const { workspaceId, livemode } of asked) {
      const key = keyOf(workspaceId, livemode);
      if (!counts.has(key)) counts.set(key, this.rows(workspaceId, livemode));
    }
    return Promise.all(asked.map((one) => counts.get(keyOf(one.workspaceId, one.livemode))!));
  }

  /** Counts the rows, and forgets the admissions of readings that have one. */
  private async rows(workspaceId: string, livemode: boolean): Promise<number> {
    const key = keyOf(workspaceId, livemode);
    const accepted = new Map<string, Admission>();
    for (const admission of this.withoutRow.get(key) ?? []) {
      if (admission.readingId !== undefined) accepted.set(admission.readingId, admission);
      if (accepted.size === ASKED_FOR) break;
    }
    const { rows } = await this.pool.query<{ readings: number; known: string[] }>({
      name: 'readings-in-flight',
      text: `select count(*)::int as readings,
                    array(select reading_id::text from readings.reading where reading_id = any($3::uuid[])) as known
             from (select from readings.reading
                   where workspace_id = $1 and livemode = $4 and status in ('queued', 'processing') limit $2) unfinished`,
      values: [workspaceId, this.config.READINGS_IN_FLIGHT, [...accepted.keys()], livemode],
    });
    const { readings = 0, known = [] } = rows[0] ?? {};
    for (const readingId of known) this.forget(key, accepted.get(readingId)!);
    // A reading whose row never comes, because its stream is parked, has timed out by then.
    const oldest = this.steady.now() - this.config.READING_TIMEOUT_MS;
    for (const admission of accepted.values()) if (admission.at <= oldest) this.forget(key, admission);
    return readings;
  }

  private forget(key: string, admission: Admission): void {
    const admitted = this.withoutRow.get(key);
    admitted?.delete(admission);
    if (admitted?.size === 0) this.withoutRow.delete(key);
  }
}

const keyOf = (workspaceId: string, livemode: boolean): string =>
  `${livemode ? 'live' : 'test'}:${workspaceId}`;
