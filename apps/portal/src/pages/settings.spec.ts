import { expect, it } from '@jest/globals';
import { rowsOf, shown, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { settingsPage } from './settings.js';

const { states } = TEXTS.en;
const FUTURE = '2099-01-01T00:00:00.000Z';
const PAST = '2026-01-01T00:00:00.000Z';

const session = (sessionId: string, openedBy: string, other: object = {}) => ({
  ...{ sessionId, openedBy, scopes: [], startedAt: PAST, endedAt: null, expiresAt: FUTURE },
  ...other,
});

const SESSIONS = [
  session('ps_own', 'key_a'),
  session('ps_other', 'key_b'),
  session('ps_unused', 'key_c', { startedAt: null }),
  session('ps_ended', 'key_d', { endedAt: PAST }),
  session('ps_expired', 'key_e', { expiresAt: PAST }),
];

const rowOf = async (openedBy: string): Promise<string> => {
  const get = (path: string) => (path === '/portal/sessions' ? { data: SESSIONS, nextCursor: null } : null);
  const rows = rowsOf(await shown(settingsPage, visitTo({ get })));
  return rows.find((row) => row.includes(openedBy)) ?? '';
};

it('offers to end the sessions that still can be used', async () => {
  for (const [openedBy, state, canEnd] of [
    ['key_b', states.active, true],
    ['key_c', states.waiting, true],
    ['key_d', states.ended, false],
    ['key_e', states.expired, false],
  ] as const) {
    const row = await rowOf(openedBy);
    expect(row).toContain(state);
    expect(row.includes('<form')).toBe(canEnd);
  }
});
