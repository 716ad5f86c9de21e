import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { Integrator } from '../support/integrator.js';
import { sharedStack, startReceiver, type Receiver, type Stack } from '../support/index.js';
import { hiddenFields, PortalVisitor, type PortalAnswer } from '../support/portal-visitor.js';

const texts = TEXTS.en;

const ORDER = {
  firstNames: 'Zoé',
  middleNames: 'Anne',
  lastNames: 'Lefèvre',
  dateOfBirth: '1990-04-12',
  gender: 'feminine',
  locale: 'fr-FR',
};

let stack: Stack;
let customer: Integrator;
let receiver: Receiver;

beforeAll(async () => {
  [stack, receiver] = await Promise.all([sharedStack(), startReceiver()]);
  customer = await Integrator.open(stack, 100);
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

const readingsOf = async (by: Integrator): Promise<readonly unknown[]> =>
  (await by.call<{ data: readonly unknown[] }>('GET', '/api/v1/readings')).body.data;

/** The hidden fields of a form, as a browser reads them. */
const fieldsOf = (page: string, action: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(hiddenFields(page, action)).map(([name, value]) => [
      name,
      value.replaceAll('&quot;', '"'),
    ]),
  );

const formOn = async (visitor: PortalVisitor, path: string, action: string) =>
  fieldsOf((await visitor.get(path)).text, action);

/** The reading to whose page an order has led. */
const readingOf = ({ headers }: PortalAnswer): string => headers.get('location')!.split('/').at(-1)!;

describe('a form that is older than what another tab did', () => {
  it('orders no live reading when its page was in test mode', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    await visitor.submit('/portal/mode', { mode: 'test' });
    const form = await formOn(visitor, '/portal/readings/new', 'order');
    await visitor.submit('/portal/mode', { mode: 'live' });
    const refused = await visitor.post('/portal/readings/new', { ...form, ...ORDER });
    expect([refused.status, refused.text.includes(texts.problems.http_409)]).toEqual([409, true]);
    expect(refused.text).toMatch(/id="lastNames"[^>]*value="Lefèvre"/);
    expect(await readingsOf(customer)).toEqual([]);
    // The page says now that it costs credits: whoever sends it from there means it.
    expect(refused.text).toContain(texts.newReading.live);
    const meant = fieldsOf(refused.text, 'order');
    await customer.untilEnded(readingOf(await visitor.post('/portal/readings/new', { ...meant, ...ORDER })));
    expect(await readingsOf(customer)).toHaveLength(1);
  });

  it('does nothing in the workspace of another link', async () => {
    const other = await Integrator.open(stack, 100);
    const visitor = await PortalVisitor.signedIn(stack, other.workspaceId);
    const [order, issue] = [
      await formOn(visitor, '/portal/readings/new', 'order'),
      await formOn(visitor, '/portal/keys', 'issue'),
    ];
    await visitor.enter(await visitor.linkOf(stack, customer.workspaceId));
    const before = (await readingsOf(customer)).length;
    const answers = [
      await visitor.post('/portal/readings/new', { ...order, ...ORDER }),
      await visitor.post('/portal/keys', { ...issue, scopes: 'readings:read' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([409, 409]);
    expect(answers.some(({ text }) => text.includes('ek_live_'))).toBe(false);
    expect(await readingsOf(customer)).toHaveLength(before);
  });

  it('undoes no change of an endpoint that came while its first try was refused', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const { body } = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: receiver.url, description: 'before' },
    });
    const [api, path] = [`/api/v1/webhooks/${body.endpointId}`, `/portal/webhooks/${body.endpointId}/edit`];
    const form = await formOn(visitor, path, 'save');
    await customer.call('PATCH', api, {
      body: { description: 'by a colleague' },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    const typed = { description: 'before', events: 'reading.completed', modes: 'live' };
    const refused = await visitor.post(path, {
      ...form,
      ...typed,
      url: 'https://user:pass@receiver.example/',
    });
    expect(refused.status).toBe(400);
    const again = { ...fieldsOf(refused.text, 'save'), ...typed, url: receiver.url };
    const told = await visitor.post(path, again);
    expect([told.status, told.text.includes(texts.problems.precondition_failed)]).toEqual([412, true]);
    expect((await customer.call('GET', api)).body['description']).toBe('by a colleague');
    const meant = { ...fieldsOf(told.text, 'save'), ...typed, url: receiver.url };
    expect((await visitor.post(path, meant)).status).toBe(303);
  });
});

describe('a form whose session has ended', () => {
  it('is kept by the page, and sent from there once the person has come back', async () => {
    const other = await Integrator.open(stack, 100);
    const key = await other.withKey('--scopes', 'portal:write,readings:read,readings:write');
    const enter = async (visitor: PortalVisitor): Promise<string> => {
      const { body } = await key.call<{ sessionId: string; url: string }>('POST', '/api/v1/portal/sessions', {
        body: { scopes: ['readings:read', 'readings:write'] },
      });
      await visitor.enter(new URL(body.url).pathname);
      return body.sessionId;
    };
    const visitor = new PortalVisitor(stack.baseUrl);
    const sessionId = await enter(visitor);
    const form = await formOn(visitor, '/portal/readings/new', 'order');
    await key.call('DELETE', `/api/v1/portal/sessions/${sessionId}`);
    const kept = await visitor.post('/portal/readings/new', { ...form, ...ORDER });
    expect([kept.status, kept.text.includes(texts.unsent.text)]).toEqual([401, true]);
    const fields = fieldsOf(kept.text, 'order');
    expect(fields).toEqual({ ...form, ...ORDER });
    await enter(visitor);
    await other.untilEnded(readingOf(await visitor.post('/portal/readings/new', fields)));
    expect(await readingsOf(other)).toHaveLength(1);
  });

  it('is not offered to whoever signs out', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    await visitor.post('/portal/sign-out');
    const { status, text } = await visitor.post('/portal/sign-out');
    expect([status, text.includes('<form')]).toEqual([401, false]);
  });
});

describe('filters that cannot be used', () => {
  it('are shown again with what was typed, and what is wrong with it', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const page = await visitor.get('/portal/readings?since=2026-02-01T00%3A00&until=2026-01-01T00%3A00');
    expect(page.status).toBe(400);
    expect(page.text).toMatch(/id="since"[^>]*value="2026-02-01T00:00"(?![^>]*aria-invalid)/);
    expect(page.text).toMatch(/id="until"[^>]*value="2026-01-01T00:00"[^>]*aria-invalid="true"/);
    expect(page.text).toContain('id="until-error"');
    const { body } = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: receiver.url },
    });
    const deliveries = await visitor.get(`/portal/webhooks/${body.endpointId}?readingId=683248f8`);
    expect(deliveries.status).toBe(400);
    expect(deliveries.text).toMatch(/id="readingId"[^>]*value="683248f8"[^>]*aria-invalid="true"/);
  });
});
