import { describe, expect, it } from '@jest/globals';
import { planText, restoredText } from './backup.js';

const AT = '2026-11-20T03:00:00.000Z';
const restored: Parameters<typeof restoredText>[1] = {
  aside: null,
  keptOut: 0,
  erased: [],
  previousLogRead: true,
  listedUntil: '2026-11-19T03:00:00.000Z',
};
const erased = [{ readingId: 'r', workspaceId: 'w' }];
const plan = { events: 7, targets: ['/srv/data'], replace: false, staysErased: 0, inTheWay: [] };

describe('After a restore', () => {
  it('numbers the steps without a gap, whether or not something must be erased again', () => {
    for (const [one, count] of [
      [restored, 5],
      [{ ...restored, erased }, 6],
    ] as const) {
      const text = restoredText(AT, one, '/mirror');
      const steps = text.slice(text.indexOf('Next:') + 1);
      expect(steps.map((line) => Number.parseInt(line, 10))).toEqual(
        Array.from({ length: count }, (_, index) => index + 1),
      );
      expect(steps.at(-1)).toMatch(/Restart API and workers as usual, and take a new backup/);
      expect(steps.some((line) => line.includes('erase-again --keys /mirror --yes'))).toBe(count === 6);
    }
  });

  it('says where the data from before is, and what an unreadable log means', () => {
    const unread = { ...restored, aside: '/srv/old', previousLogRead: false };
    expect(restoredText(AT, unread, '/mirror').join()).toMatch(
      /from before is in \/srv\/old.*after 2026-11-19T03:00:00.000Z are unknown.*may have returned.*ops erase <readingId> --yes/,
    );
    expect(restoredText(AT, restored, '/mirror').join()).not.toMatch(/unknown/);
  });
});

describe('The plan of a restore', () => {
  it('names the target, and says when nothing is in the way', () => {
    expect(planText(AT, plan)).toEqual([
      `Would restore the backup of ${AT}, with 7 events, to /srv/data.`,
      'Nothing is in the way.',
    ]);
  });

  it('lists everything that is in the way, after the plan', () => {
    const inTheWay = ['Already running.', '/srv/data has data: add --replace.'];
    expect(planText(AT, { ...plan, staysErased: 2, inTheWay }).slice(1)).toEqual([
      '2 readings that are listed as erased would stay so.',
      'In the way:',
      '  - Already running.',
      '  - /srv/data has data: add --replace.',
    ]);
  });
});
