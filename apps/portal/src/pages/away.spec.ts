import { describe, expect, it } from '@jest/globals';
import { ApiProblem } from '../frame/api.js';
import type { Visit } from '../frame/page.js';
import { shown, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { overviewPage } from './overview.js';
import { readingPage } from './reading.js';

const refused = (status: number, code: 'service_unavailable' | 'scope_missing') =>
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

/** A visit to an API that refuses these paths. */
const refusedAt = (refuses: (path: string) => ApiProblem | null): Visit =>
  visitTo({
    params: { readingId: READING.readingId },
    get: (path) => {
      const problem = refuses(path);
      if (problem) throw problem;
      if (path.startsWith('/readings/')) return { ...READING, data: [] };
      return { data: path === '/readings' ? [READING] : [] };
    },
  });

describe('while the event store is away', () => {
  const away = (path: string) => (/events$|credits$/.test(path) ? refused(503, 'service_unavailable') : null);

  it('a reading is shown without its history, which says so', async () => {
    const page = await shown(readingPage, refusedAt(away));
    expect(page).toContain(READING.readingId);
    expect(page).toContain(TEXTS.en.partAway);
  });

  it('the overview shows the readings', async () => {
    const page = await shown(overviewPage, refusedAt(away));
    expect(page).toContain(READING.readingId);
    expect(page).toContain(TEXTS.en.partAway);
  });
});

it('a part that is refused for another reason refuses the page', async () => {
  const visit = refusedAt((path) => (path.endsWith('events') ? refused(403, 'scope_missing') : null));
  await expect(readingPage.show(visit)).rejects.toBeInstanceOf(ApiProblem);
});
