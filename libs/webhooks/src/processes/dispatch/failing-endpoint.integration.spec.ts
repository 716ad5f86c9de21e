import { randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { dispatching } from '../../../test/dispatching.js';
import { reading } from '../../../test/events.js';
import { eventuallyBy, status, type SetClock } from '../../../test/receiver.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const test = dispatching();
const clock: SetClock = { at: Date.now(), now: () => clock.at };

it('An endpoint that fails for days is only probed after ten failures, and disabled after 120 hours', async () => {
  test.start({ clock, settings: { WEBHOOK_RETRY_SCHEDULE_MS: Array(10).fill(0).join() } });
  test.receiver.answer = status(500);
  const { endpointId } = await test.service.create(test.receiver.url);
  const health = async () => (await test.service.rows.find(endpointId))!.record.health;
  const arrived = () => test.receiver.received.length;
  await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
  await eventuallyBy(clock, async () => (await health()).consecutiveFailures === 10);
  expect(await test.service.deliveries()).toMatchObject([{ status: 'exhausted', attempts: 10 }]);
  expect(await health()).toMatchObject({ state: 'failing' });

  await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
  await test.service.idle();
  expect(arrived()).toBe(10);
  clock.at += 5 * MINUTE;
  await eventuallyBy(clock, () => arrived() === 11);

  clock.at = Date.parse((await health()).failingSince!) + 120 * HOUR;
  await eventuallyBy(clock, async () => (await health()).state === 'disabled');
  expect(await health()).toMatchObject({ disabledReason: 'failing' });
  await test.service.happen(reading(randomUUID()).completed({ at: clock.at }));
  await eventuallyBy(clock, async () => (await test.service.deliveries()).at(-1)?.status === 'skipped');
});
