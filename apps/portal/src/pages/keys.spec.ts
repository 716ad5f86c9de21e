import { expect, it } from '@jest/globals';
import { refusedField } from '../frame/api.js';
import { type View, Form } from '../frame/page.js';
import { rendered, rowsOf, shown, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { keysPage } from './keys.js';

const KEY = {
  ...{ keyId: 'k1', label: 'shop', scopes: ['readings:read'], networks: [] },
  ...{ lastUsedAt: '2026-03-04T05:00:00.000Z', expiresAt: null, revokedAt: null },
};

const rowOf = async (key: object): Promise<string> => {
  const page = await shown(
    keysPage,
    visitTo({ get: () => ({ data: [{ ...KEY, ...key }], nextCursor: null }) }),
  );
  return rowsOf(page).find((row) => row.includes('k1')) ?? '';
};

it('shows the last use of a key as exactly as it is known: to the hour', async () => {
  const row = await rowOf({ expiresAt: '2099-03-04T05:06:07.000Z' });
  expect(row).toMatch(/Mar 4, 2026, 5:00\sAM</u);
  expect(row).toMatch(/Mar 4, 2099, 5:06:07\sAM UTC</u);
});

it('offers to replace or revoke only a key that still opens something', async () => {
  const { manage } = TEXTS.en.keys;
  expect(await rowOf({})).toContain(manage);
  expect(await rowOf({ revokedAt: '2026-03-04T05:00:00.000Z' })).not.toContain(manage);
  expect(await rowOf({ expiresAt: '2026-03-04T05:00:00.000Z' })).not.toContain(manage);
});

it('opens the part of the page in which a key was not replaced, so that the person sees why', async () => {
  const data = ['k1', 'k2'].map((keyId) => ({ ...KEY, keyId }));
  const visit = visitTo({ get: () => ({ data, nextCursor: null }) });
  const failed = {
    form: new Form(new URLSearchParams({ action: 'rotate', about: 'k2', overlapSeconds: '0' })),
    refused: refusedField('/overlapSeconds', 'invalid_value'),
  };
  const { body } = (await keysPage.show(visit, failed)) as View;
  const [, first = '', second = ''] = rowsOf(rendered(visit, body, failed));
  expect([first, second].map((row) => /<details open/.test(row))).toEqual([false, true]);
  expect(second).toContain('role="alert"');
});
