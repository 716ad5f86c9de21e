import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { hiddenFields, PortalVisitor, type PortalAnswer } from '../support/portal-visitor.js';

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 200));
const other = fixture(() => Integrator.open(stack, 100));
const texts = TEXTS.en;
const RECEIVER = 'https://receiver.example.com/hook';
const ORDER = {
  firstNames: 'Zoé',
  middleNames: 'Marie, Anne',
  lastNames: 'Lefèvre',
  dateOfBirth: '1990-04-12',
  gender: 'feminine',
  locale: 'fr-FR',
};
const NEW_READING = '/portal/readings/new';

interface Session {
  readonly sessionId: string;
  readonly url: string;
  readonly code?: string;
  readonly scope?: string;
}
const open = (by: Integrator, body: object) => by.call<Session>('POST', '/api/v1/portal/sessions', { body });
const signedIn = (by: Integrator, ...options: string[]) =>
  PortalVisitor.signedIn(stack, by.workspaceId, ...options);
/** A key that opens sessions with these scopes, and how it lets somebody in. */
const hostOf = async (by: Integrator, ...scopes: string[]) => {
  const key = await by.withKey('--scopes', ['portal:write', ...scopes].join());
  const letIn = async (asked: readonly string[], visitor = new PortalVisitor(stack.baseUrl)) => {
    const { status, body } = await open(key, { scopes: asked });
    expect(status).toBe(201);
    await visitor.enter(new URL(body.url).pathname);
    return { visitor, sessionId: body.sessionId };
  };
  return { key, letIn };
};
const keyIdOf = ({ apiKey }: Integrator) => apiKey.split('_')[2]!;
const readingsOf = async (by: Integrator): Promise<readonly unknown[]> =>
  (await by.call<{ data: readonly unknown[] }>('GET', '/api/v1/readings')).body.data;
const formOn = async (visitor: PortalVisitor, path: string, action: string) =>
  hiddenFields((await visitor.get(path)).text, action);
/** The reading to whose page an order has led. */
const readingOf = ({ headers }: PortalAnswer): string => headers.get('location')!.split('/').at(-1)!;

describe('a link to the portal', () => {
  it('lets one browser in, once, by a form that its page sends', async () => {
    const visitor = new PortalVisitor(stack.baseUrl);
    const link = await visitor.linkOf(stack, customer.workspaceId, '--language', 'fr');
    // A frame, what scans mail and what fetches ahead leave it as it is, and so does a page elsewhere.
    expect((await visitor.get(link, {}, 'HEAD')).status).toBe(200);
    const asked = await visitor.get(link, { 'sec-fetch-dest': 'iframe' });
    expect([asked.status, asked.headers.get('set-cookie')]).toEqual([200, null]);
    expect(asked.text).toContain(TEXTS.fr.enter.text(customer.workspaceId));
    for (const origin of ['https://evil.example', 'null', null])
      expect((await visitor.post(link, {}, origin)).status).toBe(403);
    expect((await visitor.get('/portal')).status).toBe(401);
    const entered = await visitor.post(link);
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/portal']);
    expect(entered.headers.get('set-cookie')).toMatch(
      /^__Host-portal=[\w-]{43}; Path=\/; Max-Age=3600; HttpOnly; Secure; SameSite=Lax$/,
    );
    expect((await visitor.get('/portal')).text).toContain('<html lang="fr">');
    const late = new PortalVisitor(stack.baseUrl);
    const ended = await late.get(link, { 'accept-language': 'fr' });
    expect([ended.status, (await late.post(link)).status]).toEqual([410, 410]);
    expect(ended.text).toContain(TEXTS.fr.linkEnded.title);
  });

  it('asks before it replaces the session of another workspace, and ends that one', async () => {
    const visitor = new PortalVisitor(stack.baseUrl);
    const entered = await visitor.post(await visitor.linkOf(stack, customer.workspaceId));
    const [cookie = ''] = entered.headers.get('set-cookie')?.split(';') ?? [];
    const link = await visitor.linkOf(stack, other.workspaceId);
    const asked = texts.enter.instead(other.workspaceId, customer.workspaceId);
    expect((await visitor.get(link)).text).toContain(asked);
    expect((await visitor.get('/portal')).text).toContain(customer.workspaceId);
    expect((await visitor.enter(link)).text).toContain(other.workspaceId);
    expect((await new PortalVisitor(stack.baseUrl).get('/portal', { cookie })).status).toBe(401);
  });

  it('is made with a key that may, for what that key may, and bad terms are refused by name', async () => {
    const { key, letIn } = await hostOf(customer, 'readings:read');
    for (const [by, scope, missing] of [
      [customer, 'readings:read', 'portal:write'],
      [key, 'keys:write', 'keys:write'],
      [key, 'erasure', 'erasure'],
    ] as const) {
      const { status, body } = await open(by, { scopes: ['readings:read', scope] });
      expect([status, body]).toEqual([
        403,
        expect.objectContaining({ code: 'scope_missing', scope: missing }),
      ]);
    }
    const { visitor } = await letIn(['readings:read', 'persons:read']);
    expect((await visitor.get('/portal')).text).toContain('href="/portal/readings"');
    const bad = {
      language: 'de',
      timeZone: 'Europe/Nowhere',
      returnUrl: 'javascript:alert(1)',
      ttlSeconds: 28_801,
    };
    const answer = await open(key, { scopes: ['portal:read'], ...bad });
    const { errors } = answer.body as unknown as { errors: { pointer: string; code: string }[] };
    expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()]).toEqual([
      400,
      [...Object.keys(bad).map((name) => `/${name} invalid_value`), '/scopes/0 unknown_scope'].toSorted(),
    ]);
  });
});

describe('a session', () => {
  it('is left by its person, or ended by another one from the list of sessions', async () => {
    const [visitor, colleague] = [await signedIn(customer), await signedIn(customer)];
    // The newest is its own.
    const form = await formOn(colleague, '/portal/settings', 'endSession');
    expect((await visitor.submit('/portal/settings', form)).text).toContain('The session has ended.');
    expect((await colleague.get('/portal')).status).toBe(401);
    const left = await visitor.post('/portal/sign-out');
    expect([left.status, left.text.includes('You are signed out')]).toEqual([200, true]);
    const again = await visitor.post('/portal/sign-out');
    expect([again.status, again.text.includes('<form')]).toEqual([401, false]);
  });

  it('takes forms from its own pages alone, and does not open the API by its cookie', async () => {
    const visitor = await signedIn(customer);
    for (const origin of ['https://evil.example', 'null', null])
      expect((await visitor.post('/portal/mode', { mode: 'test' }, origin)).status).toBe(403);
    expect((await visitor.get('/portal')).text).not.toContain('Test mode');
    expect((await visitor.submit('/portal/mode', { mode: 'test' })).text).toContain('Test mode');
    expect((await visitor.get('/api/v1/readings')).status).toBe(401);
  });

  it('sees readings of its own workspace and mode alone, and no page that its scopes do not open', async () => {
    const [own, foreign] = await Promise.all([customer.published(), other.published()]);
    const visitor = await signedIn(customer);
    const { text } = await visitor.get('/portal/readings');
    expect([text.includes(own), text.includes(foreign)]).toEqual([true, false]);
    await visitor.submit('/portal/mode', { mode: 'test' });
    expect((await visitor.get('/portal/readings')).text).not.toContain(own);
    const narrow = await signedIn(customer, '--scopes', 'credits:read');
    expect((await narrow.get('/portal')).text).not.toContain('/portal/readings');
    expect((await narrow.get('/portal/readings')).status).toBe(404);
  });

  it('that does not see people chooses no URL for webhooks, whose bodies have the ids of the workspace', async () => {
    const scopes = ['webhooks:read', 'webhooks:write'];
    const { visitor } = await (await hostOf(customer, ...scopes)).letIn(scopes);
    const url = 'https://receiver.example.com/mine';
    const create = '/portal/webhooks/new';
    expect((await visitor.get('/portal/webhooks')).text).not.toContain(`href="${create}"`);
    const form = { ...(await formOn(visitor, create, 'create')), url, events: ['reading.published'] };
    expect((await visitor.post(create, form)).status).toBe(403);
    const path = `/portal/webhooks/${await customer.endpoint(RECEIVER)}/edit`;
    const edit = { ...(await formOn(visitor, path, 'save')), events: ['reading.failed'] };
    expect((await visitor.post(path, { ...edit, url })).status).toBe(403);
    expect((await visitor.post(path, { ...edit, description: 'Failures' })).status).toBe(303);
  });

  it('issues keys with no more than itself, nor than the key that opened it', async () => {
    const { key, letIn } = await hostOf(
      customer,
      'keys:write',
      'readings:read',
      'readings:write',
      'credits:read',
    );
    const { visitor: manager } = await letIn(['keys:write', 'readings:read', 'persons:read']);
    const page = await manager.get('/portal/keys');
    expect(page.text).not.toMatch(/value="(credits:read|keys:write|erasure)"/);
    const ask = (scope: string) =>
      manager.post('/portal/keys', { ...hiddenFields(page.text, 'issue'), key: scope, scopes: [scope] });
    for (const scope of ['credits:read', 'keys:write', 'erasure'])
      expect((await ask(scope)).status).toBe(403);
    // A repeat of a request would tell whom a reading is about.
    const { visitor: blind } = await letIn(['keys:write', 'readings:read', 'readings:write']);
    for (const scope of ['readings:read', 'readings:write']) {
      const form = { ...(await formOn(blind, '/portal/keys', 'issue')), scopes: [scope] };
      expect((await blind.post('/portal/keys', form)).status).toBe(403);
    }
    const [apiKey = ''] = /ek_live_\w+/.exec((await ask('readings:read')).text) ?? [];
    const works = async () =>
      (await customer.call('GET', '/api/v1/readings', { headers: { 'x-api-key': apiKey } })).status;
    expect(await works()).toBe(200);
    // What a session of a leaked key issued goes with that key.
    await stack.ops(['key', 'revoke', '--key', keyIdOf(key), '--and-issued']);
    expect(await works()).toBe(401);
  });
});

it('Every answer of the portal lets the browser load nothing but its own, keep nothing, and show it in no frame', async () => {
  const visitor = await signedIn(customer);
  for (const path of ['/portal', '/portal/readings', '/portal/unknown', '/portal/enter/unknown']) {
    const { headers, text } = await visitor.get(path);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(text).not.toMatch(/ style=|<style|<script(?! type="module" src="\/portal\/)| on\w+=/);
  }
  const [, style = ''] = /href="([^"]+portal[.]css)"/.exec((await visitor.get('/portal')).text) ?? [];
  const { status, headers } = await visitor.get(style);
  expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
});

describe('an order', () => {
  it('is one, however often the form is sent, and changes the overview', async () => {
    const newcomer = await Integrator.open(stack, 100);
    const visitor = await signedIn(newcomer);
    expect((await visitor.get('/portal')).text).toContain('First steps');
    const form = { ...(await formOn(visitor, NEW_READING, 'order')), ...ORDER };
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post(NEW_READING, form)));
    const ordered = answers.filter(({ status }) => status === 303).map(readingOf);
    expect([ordered.length > 0, new Set(ordered).size]).toEqual([true, 1]);
    await newcomer.untilEnded(ordered[0]!);
    expect(await readingsOf(newcomer)).toHaveLength(1);
    const { text } = await visitor.get('/portal');
    expect([text.includes('First steps'), text.includes(ordered[0]!)]).toEqual([false, true]);
    expect(text).toMatch(/aria-label="Readings ordered[^"]*: 1"/);
  });
});

describe('the page of a reading', () => {
  let readingId: string;
  let path: string;
  beforeAll(async () => {
    readingId = await customer.published({ ...person(), externalId: 'order-names' });
    path = `/portal/readings/${readingId}`;
  });

  it('shows the person, and is found by an id of the customer, only to a session that may see persons', async () => {
    const visitor = await signedIn(customer);
    const blind = await signedIn(
      customer,
      '--scopes',
      'readings:read,readings:write,documents:read,events:read',
    );
    const { status, text } = await blind.get(path);
    expect(status).toBe(200);
    for (const hidden of ['Lefèvre', '1990-04-12', 'order-names']) expect(text).not.toContain(hidden);
    expect((await visitor.get(path)).text).toContain('Lefèvre');
    const found = async (by: PortalVisitor, externalId: string) =>
      (await by.get(`/portal/readings?externalId=${externalId}`)).text.includes(readingId);
    expect([await found(visitor, 'nobody'), await found(visitor, 'order-names')]).toEqual([false, true]);
    // The list is the same whatever is asked: it says nothing about the id.
    expect([await found(blind, 'nobody'), await found(blind, 'order-names')]).toEqual([true, true]);
    expect((await blind.get('/portal/readings')).text).not.toContain('name="externalId"');
  });

  it('gives its documents in each format', async () => {
    const visitor = await signedIn(customer);
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

  it('leads to the statement of the month, which has every movement', async () => {
    const visitor = await signedIn(customer);
    const { text } = await visitor.get('/portal/credits');
    // One month, or two around midnight of a month's end: the workspace is new.
    const [, statement = ''] = /href="(\/portal\/credits\/statements\/\d{4}-\d{2})"/.exec(text) ?? [];
    expect((await visitor.get(statement)).text).toContain('Spent on a reading');
    const file = await visitor.get(`${statement}/csv`);
    expect(file.headers.get('content-disposition')).toMatch(/filename="statement-\d{4}-\d{2}[.]csv"/);
    const { entries } = (await stack.ops(['ledger', 'statement', '--workspace', customer.workspaceId])) as {
      entries: readonly unknown[];
    };
    expect(file.text.trim().split('\r\n')).toHaveLength(entries.length + 1);
  });
});

describe('a receiver’s answer on the page of a delivery', () => {
  /** What a receiver knows of the person, with a control character, in front of 5 MB. */
  const ANSWER = `<script>alert(1)</script> Eurydice\u202e is order 4711 ${'x'.repeat(5_000_000)}`;
  const failing = createServer((_, response) => response.writeHead(500).end(ANSWER));
  let [readingId, path] = ['', ''];

  beforeAll(async () => {
    await once(failing.listen(0, '127.0.0.1'), 'listening');
    const { port } = failing.address() as AddressInfo;
    const endpointId = await customer.endpoint(`http://127.0.0.1:${port}/`, {
      events: ['reading.completed'],
    });
    ({ readingId } = (await customer.create(person('Eurydice'))).body);
    const list = `/webhooks/${endpointId}/deliveries`;
    type Listed = { deliveryId: string; lastAttempt: object | null };
    await until(async () => {
      const { data } = (await customer.call<{ data: Listed[] }>('GET', `/api/v1${list}`)).body;
      path = `/portal${list}/${data[0]?.deliveryId}`;
      return data[0]!.lastAttempt !== null;
    }, 'the first attempt fails');
  });
  afterAll(() => {
    failing.close();
  });

  const shown = async (...options: string[]): Promise<string> =>
    (await (await signedIn(customer, ...options)).get(path)).text;

  it('is text, cut, for who may see persons, and these looks are recorded as such', async () => {
    const text = await shown();
    expect(text).toContain('&lt;script>alert(1)&lt;/script> Eurydice\\u202e is order 4711');
    expect(text).not.toContain('<script>alert');
    expect(Buffer.byteLength(text)).toBeLessThan(20_000);
    expect(await shown('--scopes', 'webhooks:read,webhooks:write')).not.toContain('4711');
    let looks: readonly { route: string; personal: boolean }[] = [];
    await until(
      async () => {
        const audit = await stack.ops(['audit', '--workspace', customer.workspaceId]);
        const { records } = audit as { records: typeof looks };
        // The newest first.
        looks = records.filter(({ route }) => route.endsWith('/deliveries/:deliveryId'));
        return looks.length === 2;
      },
      () => `looks of both sessions are recorded: ${JSON.stringify(looks)}`,
    );
    const about = { actor: expect.stringMatching(/^portal:/), readingId };
    expect(looks).toMatchObject([false, true].map((personal) => ({ ...about, personal })));
  });
});

describe('a form that is older than what another tab did', () => {
  it('orders no live reading when its page was in test mode', async () => {
    const owner = await Integrator.open(stack, 100);
    const visitor = await signedIn(owner);
    await visitor.submit('/portal/mode', { mode: 'test' });
    const form = await formOn(visitor, NEW_READING, 'order');
    await visitor.submit('/portal/mode', { mode: 'live' });
    const refused = await visitor.post(NEW_READING, { ...form, ...ORDER });
    expect([refused.status, refused.text.includes(texts.problems.http_409)]).toEqual([409, true]);
    expect(refused.text).toMatch(/id="lastNames"[^>]*value="Lefèvre"/);
    expect(await readingsOf(owner)).toEqual([]);
    // The page says now that it costs credits: whoever sends it from there means it.
    expect(refused.text).toContain(texts.newReading.live);
    const meant = { ...hiddenFields(refused.text, 'order'), ...ORDER };
    await owner.untilEnded(readingOf(await visitor.post(NEW_READING, meant)));
    expect(await readingsOf(owner)).toHaveLength(1);
  });

  it('undoes no change of an endpoint that came after its page', async () => {
    const visitor = await signedIn(customer);
    const endpointId = await customer.endpoint(RECEIVER, { description: 'before' });
    const [api, path] = [`/api/v1/webhooks/${endpointId}`, `/portal/webhooks/${endpointId}/edit`];
    const form = await formOn(visitor, path, 'save');
    const description = 'by a colleague';
    await customer.call('PATCH', api, { body: { description } });
    const typed = { description: 'before', events: 'reading.completed', modes: 'live', url: RECEIVER };
    const told = await visitor.post(path, { ...form, ...typed });
    expect([told.status, told.text.includes(texts.problems.precondition_failed)]).toEqual([412, true]);
    expect((await customer.call('GET', api)).body['description']).toBe(description);
    const meant = { ...hiddenFields(told.text, 'save'), ...typed };
    expect((await visitor.post(path, meant)).status).toBe(303);
  });
});

it('The page of a trial shows the id of its test reading in test mode alone', async () => {
  const visitor = await signedIn(customer);
  const tests = await customer.inTestMode();
  await tests.published({ ...person(), externalId: 'order-test' });
  const endpointId = await customer.endpoint(RECEIVER);
  const path = `/portal/webhooks/${endpointId}`;
  const form = await formOn(visitor, `${path}/edit`, 'save');
  const typed = { description: '', events: 'reading.completed', modes: 'both', url: RECEIVER };
  expect((await visitor.post(`${path}/edit`, { ...form, ...typed })).status).toBe(303);
  let deliveryId: unknown;
  await until(async () => {
    const { body } = await tests.call('POST', `/api/v1/webhooks/${endpointId}/test`);
    return (deliveryId = body['deliveryId']) !== undefined;
  }, 'test keys know the endpoint');
  const delivery = `${path}/deliveries/${String(deliveryId)}`;
  expect((await visitor.get(delivery)).text).not.toContain('order-test');
  await visitor.submit('/portal/mode', { mode: 'test' });
  expect((await visitor.get(delivery)).text).toContain('order-test');
});
