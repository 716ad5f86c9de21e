import { Inject } from '@nestjs/common';
import pg from 'pg';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { POSTGRES, transaction } from '#platform/postgres/pool.js';
import { copyOut } from '#platform/postgres/copy.js';
import {
  ListDeliveriesOfReading,
  type DeliveryOfReading,
  FindAnsweredDelivery,
  type AnsweredAttemptRecord,
  type AnsweredDelivery,
  ExportDeliveries,
} from '../contracts/index.js';
import { asRecord } from '#platform/postgres/as-record.js';
import { ALL_DELIVERIES, ATTEMPTS } from './delivery-sql.js';
import { AnswerVault } from '../application/vaults.js';

/** SQL: the attempts of delivery $1, in order. @param more columns beside those that its owner sees */
export const attemptsOf = (more = ''): string => `
  select number, attempt.started_at as "startedAt", attempt.duration_ms as "durationMs",
         attempt.status_code as "statusCode", attempt.error ${more}
  from ${ALL_DELIVERIES} cross join lateral (${ATTEMPTS}) attempt
  where delivery.delivery_id = $1 order by number`;

@QueryHandler(ListDeliveriesOfReading)
class ListDeliveriesOfReadingHandler implements IQueryHandler<ListDeliveriesOfReading> {
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

export const DELIVERY_QUERIES = [
  ListDeliveriesOfReadingHandler,
  FindAnsweredDeliveryHandler,
  ExportDeliveriesHandler,
];
