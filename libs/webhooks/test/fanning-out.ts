import { beforeEach } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { runSteps } from '#event-sourcing/projections/statement.js';
import { transaction } from '#platform/postgres/pool.js';
import { fanOutConsumer } from '../src/processes/fan-out.consumer.js';
import { testDatabase } from './postgres.js';
import { wipe } from './service.js';
import { ALL_DELIVERIES } from '../src/read-models/delivery-sql.js';

/** The fan-out on a database, fed with events. */
export class FanningOut {
  readonly database = testDatabase();
  private readonly consumer = fanOutConsumer(0);

  /** Handles one batch in a transaction. */
  handle(...batch: readonly StoredEvent[]): Promise<void> {
    return transaction(this.database.pool, (client) => runSteps(client, this.consumer.steps(batch)));
  }

  async rows<Row extends object>(text: string): Promise<Row[]> {
    return (await this.database.pool.query<Row>(text)).rows;
  }

  deliveries() {
    return this.rows<{ endpoint_id: string; type: string; status: string; sequence: number }>(
      `select delivery.endpoint_id, event.type, delivery.status, event.sequence
       from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id)
       order by delivery.endpoint_id, event.reading_id, event.sequence`,
    );
  }

  async bodies(): Promise<string[]> {
    const found = await this.rows<{ body: string }>(
      'select body from webhooks.public_event order by reading_id, sequence',
    );
    return found.map(({ body }) => body);
  }
}

/** For the specs of one file: a database, emptied before each test. */
export const fanningOut = (): FanningOut => {
  const test = new FanningOut();
  beforeEach(() => wipe(test.database));
  return test;
};
