import pg from 'pg';
import { connect, fillBook, ledgerOn } from '../billing/books.js';
import { fillStore } from '../service/fill-store.js';
import type { Integrator } from '../../support/integrator.js';
import type { StartedStack } from '../../support/start-stack.js';

const DAYS = 90;
const EVENTS_OF_A_READING = 2;
/** Places of the events that fill the feed come before those of the events that exist. */
const AFTER_THEM = 10 ** 12;
/** Every so many deliveries failed for good. */
const ONE_EXHAUSTED_IN = 1_000;

/**
 * Fills a workspace as years of use would: readings over 90 days, two events each, deliveries of them to the endpoints, and
 * all readings booked in the month that is open. The worker must be stopped permanently.
 * @param template a published reading whose row the new ones copy
 */
export const fillWorkspace = async (
  stack: StartedStack,
  customer: Integrator,
  endpoints: readonly string[],
  { readings, deliveries, template }: Readonly<{ readings: number; deliveries: number; template: string }>,
): Promise<void> => {
  const { workspaceId } = customer;
  await fillStore(stack, readings, template, { workspaceId, days: DAYS });
  const store = await connect(stack.eventStoreUrl);
  await fillBook(ledgerOn(store), workspaceId, readings, 0);
  await store.close();
  const database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  try {
    await database.query(
      'update webhooks.public_event set position = position + $2 where workspace_id = $1 and position is not null',
      [workspaceId, AFTER_THEM],
    );
    await database.query(
      `insert into webhooks.public_event (event_id, workspace_id, reading_id, type, sequence, body, occurred_at, position)
       select 'evt_' || gen_random_uuid(), workspace_id, reading.reading_id, model.type, model.sequence, model.body,
              reading.created_at, row_number() over (order by reading.created_at, reading.reading_id, model.sequence)
       from readings.reading join webhooks.public_event model using (workspace_id)
       where workspace_id = $1 and model.reading_id = $2 and model.sequence <= $3
         and not exists (select from webhooks.public_event known where known.reading_id = reading.reading_id)`,
      [workspaceId, template, EVENTS_OF_A_READING],
    );
    await database.query('select webhooks.add_partitions(now() - make_interval(days => $1), now())', [
      DAYS + 7,
    ]);
    await database.query(
      `insert into webhooks.settled_delivery (delivery_id, endpoint_id, event_id, status, attempts, test, redelivery,
                                              created_at, settled_at, started_at, duration_ms, status_code)
       select gen_random_uuid(), endpoint_id, event_id, case when n % $3 = 0 then 'exhausted' else 'succeeded' end, 1, false,
              false, at, at, at, 20, case when n % $3 = 0 then 500 else 204 end
       from (select event_id, endpoint_id, occurred_at as at, row_number() over (order by occurred_at) as n
             from webhooks.public_event cross join unnest($2::text[]) endpoint_id
             where workspace_id = $1 and position < $4
             order by occurred_at desc limit $5) made`,
      [workspaceId, endpoints, ONE_EXHAUSTED_IN, AFTER_THEM, deliveries],
    );
    await database.query('vacuum (analyze) webhooks.public_event, webhooks.settled_delivery');
    await database.query('checkpoint');
  } finally {
    await database.end();
  }
};
