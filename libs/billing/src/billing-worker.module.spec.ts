import { expect, it } from '@jest/globals';
import type { CommandBus } from '@nestjs/cqrs';
import { pino } from 'pino';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import type { SettleResult } from './application/reservations.js';
import { BillingWorkerModule } from './billing-worker.module.js';
import type { Config } from './settings.js';

const completed = recorded('reading-1', {
  type: 'ReadingCompleted',
  data: { workspaceId: 'ws_1', livemode: true, reservationId: 'r1', attempt: 1, sealedResult: 'sealed' },
});

/** What the consumer of the settlement process does when settling has this outcome. */
const settleWith = (outcome: SettleResult['outcome']) => {
  const work = new WorkRegistry();
  const commands = { execute: () => Promise.resolve({ outcome }) } as unknown as CommandBus;
  const log = pino({ level: 'silent' });
  const unused = null as never;
  new BillingWorkerModule(work, commands, unused, unused, unused, unused, {} as Config, log).onModuleInit();
  return work.consumers.find(({ name }) => name === 'billing.settlement.v1')!.dispatch!([completed]);
};

it('fails while the book is not open, so that the settlement is retried', async () => {
  await expect(settleWith('book_not_open')).rejects.toThrow('no credit book yet');
});

it('moves on once the reservation is settled, or is not known at all', async () => {
  for (const outcome of ['settled', 'already_settled', 'unknown'] as const) {
    await expect(settleWith(outcome)).resolves.toBeUndefined();
  }
});
