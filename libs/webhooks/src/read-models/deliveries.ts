import { Inject, Injectable } from '@nestjs/common';
import pg from 'pg';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { isUuid } from '#platform/text/uuid.js';
import { copyOut } from '#platform/postgres/copy.js';
import {
  type DeliveryStatus,
  ListDeliveriesOfReading,
  type DeliveryOfReading,
  FindAnsweredDelivery,
  type AnsweredAttemptRecord,
  type AnsweredDelivery,
  ExportDeliveries,
} from '../contracts/deliveries.js';
import type { DeliveredType } from '../contracts/events.js';
import type { AttemptError } from '../domain/attempt.js';
import { asRecord } from './as-record.js';
import { ALL_DELIVERIES, ATTEMPTS } from './delivery-sql.js';
import { AnswerVault } from '../application/vaults.js';

/** One attempt as the endpoint's owner sees it: of the response only the class of error and the status. */
export interface AttemptRecord {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: AttemptError | null;
}

/** A delivery as the endpoint's owner sees it. */
export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: DeliveredType;
  readonly readingId: string | null;
  readonly livemode: boolean;
  readonly sequence: number;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly test: boolean;
  readonly redelivery: boolean;
  readonly replayId: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
  readonly lastAttempt: AttemptRecord | null;
}

/** Filters of a list of deliveries; `null` and `false` do not filter. */
export interface DeliveryFilter {
  readonly statuses: readonly DeliveryStatus[] | null;
  readonly types: readonly DeliveredType[] | null;
  readonly readingId: string | null;
  /** Created at or after, and before (RFC 3339). */
  readonly since: string | null;
  readonly until: string | null;
  /** Only deliveries of events that have not reached the endpoint, by this or another delivery. */
  readonly undelivered: boolean;
  /** Of readings of these modes. Trials are in every list. */
  readonly modes: readonly Mode[];
}

/** A delivery with the fields of its last attempt; `number` is null when there was none. */
type Row = Omit<DeliveryRecord, 'lastAttempt'> &
  Omit<AttemptRecord, 'number'> & { readonly number: number | null };

/** The last delivery that was scanned, and how many were. */
interface ScanEnd {
  readonly scanned: string;
  readonly end_created_at: Date;
  readonly end_delivery_id: string;
}

/** SQL: deliveries with their events and last attempts. @param deliveries a query or table, under the name `delivery` */
const selectFrom = (deliveries: string): string => `
  select delivery.delivery_id as "deliveryId", event_id as "eventId", event.type, event.reading_id as "readingId",
         event.livemode, event.sequence, delivery.status, delivery.attempts,
         case when delivery.status = 'pending' then delivery.due_at end as "nextAttemptAt", delivery.test,
         delivery.redelivery, delivery.replay_id as "replayId", delivery.created_at as "createdAt",
         delivery.settled_at as "settledAt", last.number, last.started_at as "startedAt",
         last.duration_ms as "durationMs", last.status_code as "statusCode", last.error
  from ${deliveries}
  join webhooks.public_event event using (event_id)
  left join lateral (${ATTEMPTS} order by number desc limit 1) last on true`;

/** With more events than this of the wanted types, deliveries are looked for among all of the endpoint. */
const FEW = 1_000;

/** Deliveries of the endpoint that a page with a filter scans: of many that pass no filter, a page shows fewer, or none. */
const SCANNED = 1_000;

/** Most skipped deliveries counted when an endpoint is enabled. */
const MOST_SKIPPED = 100_000;

/** A literal: the planner matches the partial index of unsuccessful deliveries by query text, not by parameters. */
const UNSUCCEEDED = `and status <> 'succeeded'`;
const mayHaveSucceeded = ({ statuses, undelivered }: DeliveryFilter): boolean =>
  !undelivered && (statuses === null || statuses.includes('succeeded'));

/** SQL: the attempts of delivery $1, in order. @param more columns beside those that its owner sees */
const attemptsOf = (more = ''): string => `
  select number, attempt.started_at as "startedAt", attempt.duration_ms as "durationMs",
         attempt.status_code as "statusCode", attempt.error ${more}
  from ${ALL_DELIVERIES} cross join lateral (${ATTEMPTS}) attempt
  where delivery.delivery_id = $1 order by number`;

@Injectable()
export class DeliveryRows {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** A delivery of this endpoint, or `null`, also for a delivery of another endpoint. */
  async find(endpointId: string, deliveryId: string): Promise<DeliveryRecord | null> {
    if (!isUuid(deliveryId)) return null;
    const { rows } = await this.pool.query<Row>(
      `${selectFrom(ALL_DELIVERIES)} where delivery.delivery_id = $1 and delivery.endpoint_id = $2`,
      [deliveryId, endpointId],
    );
    return rows[0] ? recordOf(rows[0]) : null;
  }

  async attempts(deliveryId: string): Promise<readonly AttemptRecord[]> {
    const { rows } = await this.pool.query(attemptsOf(), [deliveryId]);
    return rows.map((row: object) => asRecord<AttemptRecord>(row));
  }

  /** @returns `after`: where the list goes on when the filter passed fewer than `limit` of those scanned; `null`: it ends */
  async page(
    endpointId: string,
    limit: number,
    after: readonly string[] | null,
    filter: DeliveryFilter,
  ): Promise<{ readonly records: readonly DeliveryRecord[]; readonly after: readonly string[] | null }> {
    const eventIds = await this.eventsOf(endpointId, filter);
    if (eventIds?.length === 0) return { records: [], after: null };
    const { rows } = await this.pool.query<(Row | { readonly deliveryId: null }) & ScanEnd>(
      `with walked as materialized (
         select * from ${ALL_DELIVERIES}
         where endpoint_id = $1
           ${eventIds === null ? 'and $4::text[] is null' : 'and event_id = any ($4)'}
           and ($2::timestamptz is null or (created_at, delivery_id) < ($2, $3))
           ${mayHaveSucceeded(filter) ? '' : UNSUCCEEDED}
           and created_at >= coalesce($5::timestamptz, '-infinity') and created_at < coalesce($6::timestamptz, 'infinity')
         order by created_at desc, delivery_id desc limit ${SCANNED}
       ), found as (
         ${selectFrom('walked delivery')}
         where ($7::text[] is null or delivery.status = any ($7))
           and ($8::text[] is null or event.type = any ($8))
           and (delivery.test or event.livemode = any ($9::boolean[]))
           and (not $10 or not exists (
             select from webhooks.settled_delivery other
             where other.endpoint_id = delivery.endpoint_id and other.event_id = delivery.event_id
               and other.status = 'succeeded'))
         order by delivery.created_at desc, delivery.delivery_id desc
         limit $11
       )
       select found.*, scanned, end_created_at, end_delivery_id
       from (select count(*) over () as scanned, created_at as end_created_at, delivery_id as end_delivery_id
             from walked order by created_at, delivery_id limit 1) last
       left join found on true
       order by found."createdAt" desc, found."deliveryId" desc`,
      [
        ...[endpointId, after?.[0] ?? null, after?.[1] ?? null, eventIds, filter.since, filter.until],
        ...[filter.statuses, filter.types, filter.modes.map((mode) => mode === 'live'), filter.undelivered],
        limit,
      ],
    );
    const records = rows.filter((row): row is Row & ScanEnd => row.deliveryId !== null).map(recordOf);
    const [end] = rows;
    const isAll = !end || Number(end.scanned) < SCANNED || records.length >= limit;
    return { records, after: isAll ? null : [end.end_created_at.toISOString(), end.end_delivery_id] };
  }

  /** The events of a filter that few deliveries pass, instead of a walk through all deliveries. `null`: it passes many, or all. */
  private async eventsOf(
    endpointId: string,
    { readingId, types }: DeliveryFilter,
  ): Promise<readonly string[] | null> {
    const found = async (where: string, ...values: unknown[]): Promise<readonly string[]> => {
      const { rows } = await this.pool.query<{ event_id: string }>(
        `select event_id from webhooks.public_event where ${where}`,
        values,
      );
      return rows.map((row) => row.event_id);
    };
    // Its facts first; of its trials, of which there may be any number, as many as fit.
    if (readingId !== null) return found(`reading_id = $1 order by sequence desc limit ${FEW}`, readingId);
    if (types === null) return null;
    const ofTypes = await found(
      `workspace_id = (select workspace_id from webhooks.endpoint where endpoint_id = $1)
         and livemode in (true, false) and type = any ($2)
       limit ${FEW + 1}`,
      endpointId,
      types,
    );
    return ofTypes.length > FEW ? null : ofTypes;
  }

  /**
   * Deliveries skipped since the endpoint was disabled, and those still to be. Stops at `MOST_SKIPPED`: nobody waits for
   * millions. Of the history, reads the weeks since.
   */
  async countSkipped(endpointId: string): Promise<number> {
    const { rows } = await this.pool.query<{ skipped: number }>(
      `select count(*)::integer as skipped from (
         select from webhooks.settled_delivery
         where endpoint_id = $1 ${UNSUCCEEDED} and status = 'skipped' and not test and not redelivery
           and settled_at >= (select disabled_at from webhooks.endpoint where endpoint_id = $1)
         union all
         select from webhooks.delivery
         where endpoint_id = $1 and status = 'pending' and not test and not redelivery
           and added <= (select max(up_to) from webhooks.skipping where endpoint_id = $1)
         limit ${MOST_SKIPPED}
       ) of_events`,
      [endpointId],
    );
    return rows[0]!.skipped;
  }
}

const recordOf = (row: Row & Partial<ScanEnd>): DeliveryRecord => {
  const { scanned: _, end_created_at: __, end_delivery_id: ___, ...shown } = row;
  const { number, startedAt, durationMs, statusCode, error, ...delivery } = asRecord<Row>(shown);
  const lastAttempt = number === null ? null : { number, startedAt, durationMs, statusCode, error };
  return { ...delivery, lastAttempt };
};

@QueryHandler(ListDeliveriesOfReading)
export class ListDeliveriesOfReadingHandler implements IQueryHandler<ListDeliveriesOfReading> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ readingId }: ListDeliveriesOfReading): Promise<readonly DeliveryOfReading[]> {
    // Joins the reading's events and its workspace's endpoints, which have indexes. Deliveries have no index by
    // reading.
    const { rows } = await this.pool.query(
      `select delivery.delivery_id as "deliveryId", delivery.endpoint_id as "endpointId", event.event_id as "eventId",
              event.type as "eventType", delivery.status, delivery.attempts, delivery.created_at as "createdAt",
              delivery.settled_at as "settledAt"
       from webhooks.public_event event
       join webhooks.endpoint using (workspace_id)
       join ${ALL_DELIVERIES} on delivery.endpoint_id = endpoint.endpoint_id and delivery.event_id = event.event_id
       where event.reading_id = $1
       order by delivery.created_at, event.sequence, delivery.endpoint_id`,
      [readingId],
    );
    return rows.map((row: object) => asRecord<DeliveryOfReading>(row));
  }
}

@QueryHandler(FindAnsweredDelivery)
export class FindAnsweredDeliveryHandler implements IQueryHandler<FindAnsweredDelivery> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly answers: AnswerVault,
  ) {}

  async execute({ deliveryId }: FindAnsweredDelivery): Promise<AnsweredDelivery | null> {
    const found = await this.pool.query(
      `select delivery_id as "deliveryId", endpoint_id as "endpointId", event.workspace_id as "workspaceId",
              event_id as "eventId", event.type as "eventType", event.reading_id as "readingId", delivery.status,
              delivery.attempts, delivery.created_at as "createdAt", delivery.settled_at as "settledAt"
       from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id) where delivery_id = $1`,
      [deliveryId],
    );
    if (!found.rows[0]) return null;
    const delivery = asRecord<Omit<AnsweredDelivery, 'history'>>(found.rows[0] as object);
    const { rows } = await this.pool.query<Omit<AnsweredAttemptRecord, 'answer'> & { answer: Buffer | null }>(
      attemptsOf(', attempt.answer'),
      [deliveryId],
    );
    const history = rows.map(async ({ answer, ...attempt }): Promise<AnsweredAttemptRecord> => {
      const of = { deliveryId, attempt: attempt.number, readingId: delivery.readingId };
      const opened = answer && (await this.answers.open(of, answer));
      return { ...asRecord<typeof attempt>(attempt), answer: opened && opened.toString('utf8') };
    });
    return { ...delivery, history: await Promise.all(history) };
  }
}

const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const utc = (column: string): string => `to_char(${column} at time zone 'UTC', ${TIME})`;

/** In the order of the columns, so that each line has the same members in the same order. */
const line = (until: string): string => `
  select json_build_object(
    'deliveryId', delivery_id, 'endpointId', endpoint_id, 'workspaceId', event.workspace_id, 'eventId', event_id,
    'type', event.type, 'readingId', event.reading_id, 'livemode', event.livemode, 'sequence', event.sequence,
    'status', status, 'test', test, 'redelivery', redelivery, 'replayId', replay_id,
    'createdAt', ${utc('created_at')}, 'settledAt', ${utc('settled_at')},
    'history', coalesce(attempts.history, '[]'))
  from ${ALL_DELIVERIES} left join webhooks.public_event event using (event_id)
  cross join lateral (
    select json_agg(json_build_object(
      'number', number, 'startedAt', ${utc('attempt.started_at')}, 'durationMs', attempt.duration_ms,
      'statusCode', attempt.status_code, 'error', attempt.error) order by number) as history
    from (${ATTEMPTS}) attempt
  ) attempts
  where delivery.status <> 'pending' and delivery.settled_at < ${pg.escapeLiteral(until)}::timestamptz`;

@QueryHandler(ExportDeliveries)
export class ExportDeliveriesHandler implements IQueryHandler<ExportDeliveries> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  execute({ until, write }: ExportDeliveries): Promise<number> {
    return transaction(this.pool, async (client) => {
      await client.query('set local statement_timeout = 0');
      let lines = 0;
      // None of these values has a character that COPY would escape.
      await copyOut(client, `copy (${line(until)}) to stdout`, (part) => {
        for (const byte of part) if (byte === 10) lines += 1;
        write(part);
      });
      return lines;
    });
  }
}
