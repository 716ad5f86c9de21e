import { expect, it } from '@jest/globals';
import { h } from 'preact';
import type { Reading } from '@reading-service/client';
import { rendered, rowsOf, shown, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { Documents, readingPage } from './reading.js';

it.each([true, false])('shows the documents, or says that the session may not open them (%s)', (mayRead) => {
  const visit = { ...visitTo({}), may: (scope: string) => mayRead || scope !== 'documents:read' };
  const reading = {
    ...{ readingId: 'r1', status: 'completed', erasedAt: null },
    document: { available: true, version: 2 },
  } as unknown as Reading;
  const html = rendered(visit, h(Documents, { reading }));
  expect(rowsOf(html)).toHaveLength(mayRead ? 3 : 0);
  expect(html.includes(TEXTS.en.reading.documentsHidden)).toBe(!mayRead);
});

it.each([
  ['processing', null, 'not published yet', 'ends here and costs no credits'],
  ['completed', null, 'not published yet', 'Credits stay spent.'],
  ['failed', null, 'has no document', 'The reading cost no credits.'],
  ['failed', '2026-03-04T05:06:07.000Z', 'are destroyed', null],
])(
  'says of a %s reading, erased at %s, what becomes of document and credits',
  async (status, erasedAt, said, cost) => {
    const reading = {
      ...{
        readingId: 'r1234567',
        status,
        erasedAt,
        error: null,
        locale: 'en-US',
        createdAt: null,
        completedAt: null,
      },
      document: { available: false, version: null },
      input: null,
    };
    const visit = visitTo({
      params: { readingId: 'r1' },
      get: (path) => (path.endsWith('r1') ? reading : { data: [] }),
    });
    const html = await shown(readingPage, visit);
    expect(html).toContain(said);
    for (const told of Object.values(TEXTS.en.reading.eraseCost))
      expect(html.includes(told)).toBe(cost !== null && told.includes(cost));
  },
);
