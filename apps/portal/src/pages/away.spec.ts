import { describe, expect, it } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { ApiProblem, type Api } from '../frame/api.js';
import { ShownContext } from '../frame/context.js';
import { formatsOf } from '../frame/formats.js';
import type { Page, View, Visit } from '../frame/page.js';
import { TEXTS } from '../texts/texts.js';
import { overviewPage } from './overview.js';
import { readingPage } from './reading.js';

const refused = (status: number, code: 'enqueue_unavailable' | 'scope_missing') =>
  new ApiProblem(
    { type: '', title: '', status, code, instance: 'urn:request:req_1', requestId: 'req_1' },
    null,
  );

const READING = {
  readingId: '683248f8-5cac-859b-8231-a49bd7abc6ed',
  status: 'completed',
  locale: 'fr-FR',
  document: { available: false, version: null },
  error: null,
  input: null,
  externalId: null,
  createdAt: '2026-04-04T09:30:00.000Z',
  completedAt: '2026-04-04T09:30:01.000Z',
  erasedAt: null,
};

/** A visit of somebody who may do everything, to an API that refuses these paths. */
const visitTo = (refuses: (path: string) => ApiProblem | null): Visit => {
  const get = (path: string): Promise<unknown> => {
    const problem = refuses(path);
    if (problem) return Promise.reject(problem);
    if (path.startsWith('/readings/')) return Promise.resolve({ ...READING, data: [] });
    return Promise.resolve({ data: path === '/readings' ? [READING] : [] });
  };
  return {
    session: { mode: 'live', workspaceId: 'ws_1' },
    api: { get } as unknown as Api,
    queries: { execute: () => Promise.resolve([]) },
    texts: TEXTS.en,
    formats: formatsOf('en', 'UTC'),
    path: '/portal',
    params: { readingId: READING.readingId },
    query: new URLSearchParams(),
    may: () => true,
    lateAfterMs: 300_000,
  } as unknown as Visit;
};

const shown = async (page: Page, visit: Visit): Promise<string> => {
  const { body } = (await page.show(visit)) as View;
  return renderToString(h(ShownContext.Provider, { value: { visit } }, body));
};

describe('while the event store is away', () => {
  const away = (path: string) => (/events$|credits$/.test(path) ? refused(503, 'enqueue_unavailable') : null);

  it('a reading is shown without its history, which says so', async () => {
    const page = await shown(readingPage, visitTo(away));
    expect(page).toContain(READING.readingId);
    expect(page).toContain(TEXTS.en.partAway);
  });

  it('the overview shows the readings', async () => {
    const page = await shown(overviewPage, visitTo(away));
    expect(page).toContain(READING.readingId);
    expect(page).toContain(TEXTS.en.partAway);
  });
});

it('a part that is refused for another reason refuses the page', async () => {
  const visit = visitTo((path) => (path.endsWith('events') ? refused(403, 'scope_missing') : null));
  await expect(readingPage.show(visit)).rejects.toBeInstanceOf(ApiProblem);
});
