import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventually } from '../../../test/receiver.js';
import { TestService } from '../../../test/service.js';

const test = dispatching();
const COMMIT_MS = 600;

/** A pool whose transactions are committed at once, but hear of it only later. */
const hearingLate = (pool: pg.Pool): pg.Pool =>
  new Proxy(pool, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (name !== 'connect') return typeof value === 'function' ? value.bind(target) : value;
      return async () => {
        const client = await target.connect();
        return new Proxy(client, {
          get: (connected, member) => {
            const own = Reflect.get(connected, member) as (...args: unknown[]) => unknown;
            if (member !== 'query') return typeof own === 'function' ? own.bind(connected) : own;
            return async (...args: unknown[]) => {
              const result = await own.apply(connected, args);
              if (args[0] === 'commit') await delay(COMMIT_MS);
              return result;
            };
          },
        });
      };
    },
  });

describe('An outcome that is recorded while its worker has not yet heard that the queue was released', () => {
  it('makes the queue ready for what waited behind it, long before the lease of its delivery ends', async () => {
    test.service = new TestService(
      { ...test.database, pool: hearingLate(test.database.pool) },
      { settings: { WEBHOOK_LEASE_MS: '3600000' } },
    );
    const answers: (() => void)[] = [];
    test.receiver.answer = (response) => void answers.push(() => response.writeHead(204).end());
    await test.service.create(test.receiver.url);
    const one = reading(randomUUID());
    await test.service.happen(one.completed(), one.published());
    test.service.follow();
    await eventually(async () => (await test.service.deliveries()).length === 2);
    test.service.dispatch();
    await eventually(() => test.receiver.received.length === 1);
    // The release of its queue is committed, and its worker does not know.
    await eventually(async () => {
      const { rowCount } = await test.database.pool.query(
        'select from webhooks.delivery where lease is not null',
      );
      return rowCount === 1;
    });
    answers[0]!();
    await eventually(() => test.receiver.received.length === 2);
    answers[1]!();
    await test.settled(2);
    expect(await test.service.attempts()).toMatchObject([{ error: null }, { error: null }]);
  });
});
