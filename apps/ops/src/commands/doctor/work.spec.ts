import { expect, it } from '@jest/globals';
import { ListWebhookEndpoints } from '#webhooks/contracts/index.js';
import { checkDeliveries, wayOutOfHalt } from './work.js';

it('Doctor advises to set an event aside only when a consumer parks too much, not when a store is at fault', () => {
  expect(wayOutOfHalt('billing.a', 'credits-1@3 Added: StoreDamaged: record 7 is damaged')).not.toContain(
    'set-aside',
  );
  expect(
    wayOutOfHalt('billing.a', 'credits-1@3 Added: RangeError: no; 25 events keep streams parked already'),
  ).toContain('ops parked set-aside credits-1@3 --reason');
});

it.each([
  ['none is due', [], 'ok', 'none is due'],
  ['none has waited for a minute', [['ok', 59]], 'ok', 'the oldest has been due for 59 s'],
  [
    'one has, of whichever endpoint',
    [
      ['ok', 0],
      ['failing', 60],
    ],
    'warning',
    'the oldest has been due for 60 s',
  ],
  [
    'one has waited for five minutes',
    [
      ['ok', 300],
      ['ok', 7],
    ],
    'failure',
    'the oldest has been due for 300 s',
  ],
  [
    'only endpoints wait that are sent nothing',
    [
      ['unverified', 900],
      ['disabled', 900],
    ],
    'ok',
    'none is due',
  ],
] as const)(
  'Doctor judges deliveries by the one that waits longest: %s',
  async (_, queues, level, message) => {
    const asked: unknown[] = [];
    const queries = {
      execute: async (query: object) => {
        asked.push(query);
        return queues.map(([state, queueAgeSeconds]) => ({
          endpoint: { health: { state } },
          queueAgeSeconds,
        }));
      },
    };
    expect(await checkDeliveries({ queries } as never)).toMatchObject({
      check: 'deliveries',
      level,
      message,
    });
    expect(asked).toEqual([new ListWebhookEndpoints(null, null)]);
  },
);
