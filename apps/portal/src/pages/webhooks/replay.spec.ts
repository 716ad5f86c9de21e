import { expect, it } from '@jest/globals';
import { shown, visitTo } from '../../testing/show.js';
import { TEXTS } from '../../texts/texts.js';
import { oneReplayPage } from './replay.js';

const { replay, states } = TEXTS.en;

const pageOf = (other: object): Promise<string> => {
  const one = {
    ...{ state: 'finished', dryRun: true, events: 5, progress: 1, types: [], statuses: [] },
    ...{ since: '2026-03-04T05:06:00.000Z', until: '2026-03-05T05:06:00.000Z', finishedAt: null },
    deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
    ...other,
  };
  return shown(oneReplayPage, visitTo({ get: () => one, params: { endpointId: 'we_1', replayId: 'r1' } }));
};

it('says of events that were counted that none was sent', async () => {
  const page = await pageOf({});
  expect(page).toContain(states.counted);
  expect(page).toContain(`>${replay.start}</button>`);
  for (const said of [states.finished, replay.progress, replay.done]) expect(page).not.toContain(`>${said}<`);
});

it('offers to send nothing where there is nothing to send', async () => {
  const page = await pageOf({ events: 0 });
  expect(page).toContain(replay.none);
  expect(page).not.toContain(`>${replay.start}</button>`);
});

it('says of events that were sent what became of them', async () => {
  const page = await pageOf({
    dryRun: false,
    deliveries: { pending: 0, succeeded: 4, exhausted: 1, skipped: 0 },
  });
  expect(page).toContain(`>${states.finished}<`);
  expect(page).toContain(`${states.succeeded}: 4`);
  for (const said of [replay.progress, replay.done]) expect(page).toContain(`>${said}<`);
  expect(page).not.toContain(states.counted);
});
