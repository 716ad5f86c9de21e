import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { Integrator } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { hiddenFields, PortalVisitor } from '../support/portal-visitor.js';

let stack: Stack;
let customer: Integrator;
let other: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  [customer, other] = await Promise.all([Integrator.open(stack, 100), Integrator.open(stack, 100)]);
});

afterAll(async () => {
  await stack?.stop();
});

const open = (by: Integrator, body: object) =>
  by.call<{ sessionId: string; url: string; code?: string; scope?: string }>(
    'POST',
    '/api/v1/portal/sessions',
    {
      body,
    },
  );

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
    for (const answer of [await late.get(link, { 'accept-language': 'fr' }), await late.post(link)])
      expect(answer.status).toBe(410);
    expect((await late.get(link, { 'accept-language': 'fr' })).text).toContain(TEXTS.fr.linkEnded.title);
  });

  it('asks before it replaces the session of another workspace, and ends that one', async () => {
    const visitor = new PortalVisitor(stack.baseUrl);
    const entered = await visitor.post(await visitor.linkOf(stack, customer.workspaceId));
    const [cookie = ''] = entered.headers.get('set-cookie')?.split(';') ?? [];
    const link = await visitor.linkOf(stack, other.workspaceId);
    const { enter } = TEXTS.en;
    const asked = enter.instead(other.workspaceId, customer.workspaceId);
    expect((await visitor.get(link)).text).toContain(asked);
    expect((await visitor.get('/portal')).text).toContain(customer.workspaceId);
    expect((await visitor.enter(link)).text).toContain(other.workspaceId);
    expect((await new PortalVisitor(stack.baseUrl).get('/portal', { cookie })).status).toBe(401);
  });

  it('is made with a key that may, for what that key may', async () => {
    const refused = await open(customer, { scopes: ['readings:read'] });
    expect([refused.status, refused.body.code, refused.body.scope]).toEqual([
      403,
      'scope_missing',
      'portal:write',
    ]);
    const host = await customer.withKey('--scopes', 'portal:write,readings:read');
    for (const [scope, missing] of [
      ['keys:write', 'keys:write'],
      ['erasure', 'erasure'],
    ]) {
      const beyond = await open(host, { scopes: ['readings:read', scope] });
      expect([beyond.status, beyond.body.code, beyond.body.scope]).toEqual([403, 'scope_missing', missing]);
    }
    const opened = await open(host, { scopes: ['readings:read', 'persons:read'], ttlSeconds: 600 });
    expect(opened.status).toBe(201);
    const visitor = new PortalVisitor(stack.baseUrl);
    const page = await visitor.enter(new URL(opened.body.url).pathname);
    expect([page.status, page.text.includes('href="/portal/readings"')]).toEqual([200, true]);
  });

  it('has bad terms refused by name', async () => {
    const host = await customer.withKey('--scopes', 'portal:write');
    const answer = await customer.call<{ errors: { pointer: string; code: string }[] }>(
      'POST',
      '/api/v1/portal/sessions',
      {
        headers: { 'x-api-key': host.apiKey },
        body: {
          scopes: ['portal:read'],
          language: 'de',
          timeZone: 'Europe/Nowhere',
          returnUrl: 'javascript:alert(1)',
          ttlSeconds: 28_801,
        },
      },
    );
    expect([answer.status, answer.body.errors.map(({ pointer, code }) => [pointer, code])]).toEqual([
      400,
      expect.arrayContaining([
        ['/scopes/0', 'unknown_scope'],
        ['/language', 'invalid_value'],
        ['/timeZone', 'invalid_value'],
        ['/returnUrl', 'invalid_value'],
        ['/ttlSeconds', 'invalid_value'],
      ]),
    ]);
  });
});

describe('a session', () => {
  it('ends when its workspace ends it, and with the key that opened it', async () => {
    const host = await customer.withKey('--scopes', 'portal:write,readings:read');
    const enter = async () => {
      const { body } = await open(host, { scopes: ['readings:read'] });
      const visitor = new PortalVisitor(stack.baseUrl);
      await visitor.enter(new URL(body.url).pathname);
      return { visitor, sessionId: body.sessionId };
    };
    const [first, second] = [await enter(), await enter()];
    const foreign = await other.withKey('--scopes', 'portal:write');
    const gone = (by: Integrator) => by.call('DELETE', `/api/v1/portal/sessions/${first.sessionId}`);
    expect((await gone(foreign)).status).toBe(403);
    expect((await first.visitor.get('/portal')).status).toBe(200);
    expect((await gone(host)).status).toBe(204);
    const ended = await first.visitor.get('/portal');
    expect([ended.status, ended.headers.get('www-authenticate')]).toEqual([401, 'Cookie realm="portal"']);
    const listed = await host.call<{ data: { sessionId: string; endedAt: string | null }[] }>(
      'GET',
      '/api/v1/portal/sessions',
    );
    const shown = listed.body.data.filter(({ sessionId }) =>
      [first.sessionId, second.sessionId].includes(sessionId),
    );
    expect(shown.map(({ sessionId, endedAt }) => [sessionId, endedAt !== null])).toEqual([
      [second.sessionId, false],
      [first.sessionId, true],
    ]);
    await stack.ops(['key', 'revoke', '--key', host.apiKey.split('_')[2]!]);
    expect((await second.visitor.get('/portal')).status).toBe(401);
  });

  it('is left by its person', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const left = await visitor.post('/portal/sign-out');
    expect([left.status, left.text.includes('You are signed out')]).toEqual([200, true]);
    expect((await visitor.get('/portal')).status).toBe(401);
  });

  it('takes forms from its own pages alone', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    for (const origin of ['https://evil.example', 'null', null])
      expect((await visitor.post('/portal/mode', { mode: 'test' }, origin)).status).toBe(403);
    expect((await visitor.get('/portal')).text).not.toContain('Test mode');
    const page = await visitor.submit('/portal/mode', { mode: 'test' });
    expect([page.status, page.text.includes('Test mode')]).toEqual([200, true]);
  });

  it('cannot call the API by its cookie', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    expect((await visitor.get('/api/v1/readings')).status).toBe(401);
  });

  it('sees readings of its own workspace and mode alone', async () => {
    const { body } = await other.create();
    const own = (await customer.create()).body.readingId;
    await Promise.all([customer.untilEnded(own), other.untilEnded(body.readingId)]);
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const { text } = await visitor.get('/portal/readings');
    expect([text.includes(own), text.includes(body.readingId)]).toEqual([true, false]);
    await visitor.submit('/portal/mode', { mode: 'test' });
    expect((await visitor.get('/portal/readings')).text).not.toContain(own);
  });

  it('finds no page that its scopes do not open', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId, '--scopes', 'credits:read');
    const page = await visitor.get('/portal');
    expect([page.status, page.text.includes('/portal/readings')]).toEqual([200, false]);
    expect((await visitor.get('/portal/readings')).status).toBe(404);
  });
});

describe('every answer of the portal', () => {
  it('lets the browser load nothing but its own, keep nothing, and show it in no frame', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    for (const path of ['/portal', '/portal/readings', '/portal/unknown', '/portal/enter/unknown']) {
      const { headers, text } = await visitor.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(text).not.toMatch(/ style=|<style|<script(?! type="module" src="\/portal\/)| on\w+=/);
    }
  });

  it('loads a style that a browser keeps', async () => {
    const visitor = new PortalVisitor(stack.baseUrl);
    const [, style = ''] = /href="([^"]+portal[.]css)"/.exec((await visitor.get('/portal')).text) ?? [];
    const { status, headers } = await visitor.get(style);
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  });
});

describe('a session that does not see people', () => {
  it('chooses no URL for webhooks, whose bodies have the ids of the workspace', async () => {
    const host = await customer.withKey('--scopes', 'portal:write,webhooks:read,webhooks:write');
    const { body } = await open(host, { scopes: ['webhooks:read', 'webhooks:write'] });
    const visitor = new PortalVisitor(stack.baseUrl);
    await visitor.enter(new URL(body.url).pathname);
    expect((await visitor.get('/portal/webhooks')).text).not.toContain('href="/portal/webhooks/new"');
    const url = 'https://receiver.example.com/mine';
    const form = { ...hiddenFields((await visitor.get('/portal/webhooks/new')).text, 'create'), url };
    expect(
      (await visitor.post('/portal/webhooks/new', { ...form, events: ['reading.published'] })).status,
    ).toBe(403);
    const made = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: 'https://receiver.example.com/theirs' },
    });
    const path = `/portal/webhooks/${made.body.endpointId}/edit`;
    const edit = hiddenFields((await visitor.get(path)).text, 'save');
    const etag = edit['etag']!.replaceAll('&quot;', '"');
    const events = ['reading.failed'];
    expect((await visitor.post(path, { ...edit, events, url })).status).toBe(403);
    expect((await visitor.post(path, { ...edit, etag, events, description: 'Failures' })).status).toBe(303);
  });
});

describe('the keys of a session', () => {
  it('have no more than the session, nor than the key that opened it', async () => {
    const host = await customer.withKey('--scopes', 'portal:write,keys:write,readings:read,credits:read');
    const visitorWith = async (...scopes: string[]): Promise<PortalVisitor> => {
      const { body } = await open(host, { scopes });
      const opened = new PortalVisitor(stack.baseUrl);
      await opened.enter(new URL(body.url).pathname);
      return opened;
    };
    const manager = await visitorWith('keys:write', 'readings:read', 'persons:read');
    const page = await manager.get('/portal/keys');
    expect(page.text).not.toMatch(/value="(credits:read|keys:write|erasure)"/);
    const ask = (scope: string) =>
      manager.post('/portal/keys', { ...hiddenFields(page.text, 'issue'), key: scope, scopes: [scope] });
    for (const scope of ['credits:read', 'keys:write', 'erasure'])
      expect((await ask(scope)).status).toBe(403);
    const blind = await visitorWith('keys:write', 'readings:read');
    const form = hiddenFields((await blind.get('/portal/keys')).text, 'issue');
    expect((await blind.post('/portal/keys', { ...form, key: 'b', scopes: ['readings:read'] })).status).toBe(
      403,
    );
    const issued = await ask('readings:read');
    const [apiKey = ''] = /ek_live_\w+/.exec(issued.text) ?? [];
    const own = { headers: { 'x-api-key': apiKey } };
    expect((await customer.call('GET', '/api/v1/readings', own)).status).toBe(200);
    // What a session of a leaked key issued goes with that key.
    await stack.ops(['key', 'revoke', '--key', host.apiKey.split('_')[2]!, '--and-issued']);
    expect((await customer.call('GET', '/api/v1/readings', own)).status).toBe(401);
  });

  it('never manage keys or open sessions, not even those of an operator’s session', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const form = hiddenFields((await visitor.get('/portal/keys')).text, 'issue');
    expect(form['action']).toBe('issue');
    for (const scope of ['keys:write', 'portal:write']) {
      const ask = { ...form, key: scope, scopes: ['credits:read', scope] };
      expect((await visitor.post('/portal/keys', ask)).status).toBe(403);
      const { apiKey } = await customer.withKey('--scopes', `credits:read,${scope}`);
      const rotate = { action: 'rotate', about: apiKey.split('_')[2]!, overlapSeconds: '60', key: scope };
      expect((await visitor.post('/portal/keys', rotate)).status).toBe(403);
    }
  });
});
