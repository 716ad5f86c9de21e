import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person, until } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { hiddenFields, PortalVisitor } from '../support/portal-visitor.js';

const ORDER = {
  firstNames: 'Zoé',
  middleNames: 'Marie, Anne',
  lastNames: 'Lefèvre',
  dateOfBirth: '1990-04-12',
  gender: 'feminine',
  locale: 'fr-FR',
};

let stack: Stack;
let customer: Integrator;
let visitor: PortalVisitor;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 200);
  visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
});

afterAll(async () => {
  await stack?.stop();
});

/** Opens a page, and sends the form on it with what a person adds. */
const fill = async (path: string, action: string, typed: Record<string, string | readonly string[]>) => {
  const { text } = await visitor.get(path);
  return visitor.submit(path, { ...hiddenFields(text, action), ...typed });
};

const readingsOf = async (by: Integrator): Promise<readonly { readingId: string }[]> =>
  (await by.call<{ data: { readingId: string }[] }>('GET', '/api/v1/readings')).body.data;

describe('a new reading', () => {
  it('is ordered by a form, and comes while its page loads again', async () => {
    const page = await fill('/portal/readings/new', 'order', { ...ORDER, externalId: 'order-1' });
    expect([page.status, page.text.includes('The reading is ordered.')]).toEqual([200, true]);
    const [, readingId = ''] = /<code>([0-9a-f-]{36})</.exec(page.text) ?? [];
    expect((await customer.reading(readingId))['input']).toMatchObject({
      name: { firstNames: ['Zoé'], middleNames: ['Marie', 'Anne'], lastNames: ['Lefèvre'] },
    });
    await customer.untilEnded(readingId);
    const done = await visitor.get(`/portal/readings/${readingId}`);
    expect(done.text).not.toContain('http-equiv="refresh"');
    for (const text of ['Zoé Marie Anne Lefèvre', 'order-1', '20 credits held', 'Version 1'])
      expect(done.text).toContain(text);
  });

  it('keeps what was typed when the service refuses it, and says where', async () => {
    const page = await fill('/portal/readings/new', 'order', {
      ...ORDER,
      firstNames: 'Zo3 <b>',
      dateOfBirth: '',
    });
    expect(page.status).toBe(400);
    expect(page.text).toMatch(/id="firstNames"[^>]*value="Zo3 &lt;b>"[^>]*aria-invalid="true"/);
    expect(page.text).toMatch(/id="lastNames"[^>]*value="Lefèvre"(?![^>]*aria-invalid)/);
    expect(page.text).toContain('Names have no digits');
    expect(page.text).toMatch(/id="dateOfBirth-error">Give a real date/);
  });

  it('is ordered once, however often the form is sent', async () => {
    const other = await Integrator.open(stack, 100);
    const twice = await PortalVisitor.signedIn(stack, other.workspaceId);
    const form = { ...hiddenFields((await twice.get('/portal/readings/new')).text, 'order'), ...ORDER };
    const answers = await Promise.all([1, 2, 3].map(() => twice.post('/portal/readings/new', form)));
    const ordered = answers
      .filter(({ status }) => status === 303)
      .map(({ headers }) => headers.get('location'));
    expect([ordered.length > 0, new Set(ordered).size]).toEqual([true, 1]);
    await other.untilEnded(ordered[0]!.split('/').at(-1)!);
    expect(await readingsOf(other)).toHaveLength(1);
  });

  it('is refused without credits, in words', async () => {
    const poor = await Integrator.open(stack, 0);
    const person = await PortalVisitor.signedIn(stack, poor.workspaceId, '--language', 'fr');
    const form = { ...hiddenFields((await person.get('/portal/readings/new')).text, 'order'), ...ORDER };
    const page = await person.post('/portal/readings/new', form);
    expect([page.status, page.text.includes('Il n’y a pas assez de crédits.')]).toEqual([402, true]);
    const credits = await person.get('/portal/credits');
    expect([credits.status, credits.text.includes('Demandez un abonnement')]).toEqual([200, true]);
  });
});

describe('the page of a reading', () => {
  let readingId: string;
  let path: string;

  beforeAll(async () => {
    ({ readingId } = (await customer.create({ ...person(), externalId: 'order-names' })).body);
    path = `/portal/readings/${readingId}`;
    await customer.untilEnded(readingId);
  });

  it('shows the person only to a session that may see persons', async () => {
    const scopes = 'readings:read,readings:write,documents:read,events:read';
    const blind = await PortalVisitor.signedIn(stack, customer.workspaceId, '--scopes', scopes);
    const { status, text } = await blind.get(path);
    expect(status).toBe(200);
    for (const hidden of ['Lefèvre', '1990-04-12', 'order-names']) expect(text).not.toContain(hidden);
    expect((await visitor.get(path)).text).toContain('Lefèvre');
  });

  it('is found by an id of the customer only by who may see persons', async () => {
    const blind = await PortalVisitor.signedIn(stack, customer.workspaceId, '--scopes', 'readings:read');
    const search = '/portal/readings?externalId=';
    expect((await visitor.get(`${search}nobody`)).text).not.toContain(readingId);
    expect((await visitor.get(`${search}order-names`)).text).toContain(readingId);
    // The list is the same whatever is asked: it says nothing about the id.
    const [right, wrong] = await Promise.all([
      blind.get(`${search}order-names`),
      blind.get(`${search}nobody`),
    ]);
    expect([right.text, wrong.text].map((text) => text.includes(readingId))).toEqual([true, true]);
    expect(right.text).not.toContain('name="externalId"');
  });

  it('gives its documents in each format', async () => {
    const { text } = await visitor.get(path);
    const links = [...text.matchAll(/href="([^"]+\/document[?][^"]+)"/g)].map(([, href]) =>
      href!.replaceAll('&amp;', '&'),
    );
    const files = await Promise.all(links.map((href) => visitor.get(href)));
    expect(files.map(({ headers }) => headers.get('content-disposition'))).toEqual(
      ['pdf', 'md', 'json'].map((ending) => `attachment; filename="reading-${readingId}.${ending}"`),
    );
    expect(files[0]!.text.slice(0, 5)).toBe('%PDF-');
  });

  it('shows a new link once, and ends it', async () => {
    const form = hiddenFields((await visitor.get(path)).text, 'link');
    const typed = { ...form, format: 'markdown', expiresInSeconds: '3600' };
    const page = await visitor.post(path, typed);
    const [, link = ''] = /<code data-copy[^>]*>([^<]+)</.exec(page.text) ?? [];
    expect((await fetch(link)).status).toBe(200);
    const again = await visitor.submit(path, typed);
    expect([again.text.includes(link), again.text.includes('This was shown before')]).toEqual([false, true]);
    const ended = await fill(path, 'revokeLink', {});
    expect(ended.text).toContain('The link has ended.');
    expect((await fetch(link)).status).toBe(410);
  });

  it('publishes another version', async () => {
    const page = await fill(path, 'republish', {});
    expect([page.status, page.text.includes('Another version is being published.')]).toEqual([200, true]);
    await until(
      async () => (await visitor.get(path)).text.includes('Version 2'),
      () => 'version 2 on the page',
    );
  });

  it('erases the person only when that is typed', async () => {
    const wrong = await fill(path, 'erase', { confirm: 'yes' });
    expect([wrong.status, wrong.text.includes('Type exactly what is asked for above.')]).toEqual([400, true]);
    expect((await customer.reading(readingId))['erasedAt']).toBeNull();
    await fill(path, 'erase', { confirm: readingId.slice(0, 8) });
    await until(
      async () => (await visitor.get(path)).text.includes('Personal data erased'),
      () => 'the erasure on the page',
    );
    expect((await visitor.get(path)).text).not.toContain('Lefèvre');
  });

  it('is not found by another workspace, nor anything below it', async () => {
    const other = await Integrator.open(stack, 0);
    const stranger = await PortalVisitor.signedIn(stack, other.workspaceId);
    const form = { action: 'erase', key: 'k', confirm: readingId.slice(0, 8) };
    const answers = await Promise.all([
      stranger.get(path),
      stranger.get(`${path}/document?format=pdf`),
      stranger.post(path, form),
      stranger.post(path, { ...form, action: 'link', format: 'pdf', expiresInSeconds: '60' }),
    ]);
    for (const { status, text } of answers) {
      expect(status).toBe(403);
      expect(text).not.toMatch(/Lefèvre|%PDF|order-names/);
    }
    expect((await stranger.get('/portal/readings/00000000-0000-4000-8000-000000000000')).status).toBe(404);
  });
});

describe('the page of keys', () => {
  it('issues a key that is shown once, replaces and revokes it', async () => {
    const { text } = await visitor.get('/portal/keys');
    const typed = { ...hiddenFields(text, 'issue'), label: 'shop', scopes: ['readings:read'] };
    const page = await visitor.post('/portal/keys', typed);
    const [apiKey = ''] = /ek_live_\w+/.exec(page.text) ?? [];
    const asked = { headers: { 'x-api-key': apiKey } };
    expect((await customer.call('GET', '/api/v1/readings', asked)).status).toBe(200);
    const again = await visitor.submit('/portal/keys', typed);
    expect([again.text.includes(apiKey), again.text.includes('This was shown before')]).toEqual([
      false,
      true,
    ]);
    const about = apiKey.split('_')[2]!;
    const rotated = await visitor.post('/portal/keys', {
      ...hiddenFields(again.text, 'rotate'),
      about,
      overlapSeconds: '0',
    });
    expect(/ek_live_\w+/.exec(rotated.text)?.[0]).not.toBe(apiKey);
    expect((await customer.call('GET', '/api/v1/readings', asked)).status).toBe(401);
    const next = /ek_live_(\w{8})_/.exec(rotated.text)![1]!;
    const revoked = await visitor.submit('/portal/keys', { action: 'revoke', key: 'k', about: next });
    expect(revoked.text).toContain('The key is revoked.');
  });
});

describe('the pages of credits', () => {
  it('show what is left, and every movement of a month', async () => {
    const credits = await visitor.get('/portal/credits');
    const [, statement = ''] = /href="(\/portal\/credits\/statements\/\d{4}-\d{2})"/.exec(credits.text) ?? [];
    const page = await visitor.get(statement);
    expect([page.status, page.text.includes('Spent on a reading')]).toEqual([200, true]);
    const file = await visitor.get(`${statement}/csv`);
    expect(file.headers.get('content-disposition')).toMatch(/filename="statement-\d{4}-\d{2}[.]csv"/);
    const entries = (await stack.ops(['ledger', 'statement', '--workspace', customer.workspaceId])) as {
      entries: readonly unknown[];
    };
    expect(file.text.trim().split('\r\n')).toHaveLength(entries.entries.length + 1);
    const before = await visitor.get('/portal/credits/statements/2020-01');
    expect([before.status, before.text.includes('There is no statement of this month')]).toEqual([404, true]);
    const { text } = await visitor.get('/portal/credits');
    const offered = [...text.matchAll(/statements\/(\d{4}-\d{2})"/g)].map(([, month]) => month);
    // One month, or two around midnight of a month's end: the workspace is new.
    expect([1, 2]).toContain(offered.length);
  });
});

describe('the overview', () => {
  it('begins with first steps, and then counts the readings of the last days', async () => {
    const other = await Integrator.open(stack, 100);
    const newcomer = await PortalVisitor.signedIn(stack, other.workspaceId);
    expect((await newcomer.get('/portal')).text).toContain('First steps');
    const { readingId } = (await other.create()).body;
    await other.untilEnded(readingId);
    const { text } = await newcomer.get('/portal');
    expect([text.includes('First steps'), text.includes(readingId)]).toEqual([false, true]);
    expect((await visitor.get('/portal')).text).toMatch(/aria-label="Readings ordered[^"]*: [1-9]\d*"/);
  });
});

describe('the settings', () => {
  it('change the language and the zone of the session', async () => {
    const person = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const refused = await person.post('/portal/settings', {
      action: 'display',
      language: 'fr',
      timeZone: 'Europe/Nowhere',
    });
    expect([refused.status, refused.text.includes('value="Europe/Nowhere"')]).toEqual([400, true]);
    const page = await person.submit('/portal/settings', {
      action: 'display',
      language: 'fr',
      timeZone: 'Asia/Tokyo',
    });
    expect([page.text.includes('<html lang="fr">'), page.text.includes('value="Asia/Tokyo"')]).toEqual([
      true,
      true,
    ]);
  });

  it('list the sessions of the workspace, and end them', async () => {
    const other = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const { text } = await other.get('/portal/settings');
    // The newest is its own.
    const ended = await visitor.submit('/portal/settings', hiddenFields(text, 'endSession'));
    expect(ended.text).toContain('The session has ended.');
    expect((await other.get('/portal')).status).toBe(401);
  });
});
