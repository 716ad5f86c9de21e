import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { programPath } from '#platform/program-path.js';
import { person, until } from '../support/integrator.js';
import { CANARY, NASTY, auditedService } from './support/audited-service.js';

const UNSAFE = /[\p{Cf}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u;

const service = auditedService();
const { portal, seen, ask, audit, find, issue, stranger, countOf } = service;
let readingId: string;

describe('the audit records of a reading', () => {
  it('say who created it and who read it, with which key, from where', async () => {
    const created = await service.customer.create(person(CANARY));
    readingId = created.body.readingId;
    await service.customer.untilEnded(readingId);
    const key = { 'x-api-key': service.customer.apiKey };
    const paths = [
      '',
      '/result',
      ...['document_v1', 'markdown', 'pdf'].map((format) => `/document?format=${format}`),
    ];
    for (const path of paths) expect(await ask('GET', `/api/v1/readings/${readingId}${path}`, key)).toBe(200);
    const read = seen.map(({ id }) => id);
    expect(await ask('GET', '/api/v1/readings', key)).toBe(200);
    // An answer can be sent before its record is written.
    const requestId = created.headers.get('x-request-id')!;
    const ids = [requestId, ...seen.map(({ id }) => id)].map((id) => `'${id.slice(4)}'`);
    await until(
      async () => (await countOf(`request_id in (${ids.join()})`)).rows === ids.length,
      () => 'the requests are recorded',
    );

    const records = await audit('--reading', readingId);
    expect(records.find((record) => record.requestId === requestId)).toMatchObject({
      method: 'POST',
      route: '/api/v1/readings',
      status: 202,
      workspaceId: service.customer.workspaceId,
      actor: `apiKey:${service.keyId}`,
      address: '127.0.0.1',
      personal: false,
    });
    const personal = await find({ readingId, personal: true, actor: `apiKey:${service.keyId}` });
    expect(personal.map(({ requestId }) => `req_${requestId}`)).toEqual(expect.arrayContaining(read));
    expect(new Set(personal.map(({ route }) => route))).toEqual(
      new Set(['', '/result', '/document'].map((path) => `/api/v1/readings/:readingId${path}`)),
    );
    const ofKey = await find({ actor: `apiKey:${service.keyId}`, workspaceId: service.customer.workspaceId });
    const list = ofKey.find(({ requestId }) => `req_${requestId}` === seen.at(-1)!.id);
    expect(list).toMatchObject({ readingId: null, personal: true });
  });

  it('exist also for who read its external id in an event, or in the feed', async () => {
    const key = { 'x-api-key': service.customer.apiKey };
    await service.customer.untilTold(2);
    const { rows } = await service.pool.query<{ event_id: string }>(
      'select event_id from webhooks.public_event where reading_id = $1 limit 1',
      [readingId],
    );
    expect(await ask('GET', `/api/v1/events/${rows[0]!.event_id}`, key)).toBe(200);
    expect(await ask('GET', '/api/v1/events?type=reading.published', key)).toBe(200);
    expect(await ask('GET', '/api/v1/events?type=credits.low', key)).toBe(200);
    const ids = seen.slice(-3).map(({ id }) => id.slice(4));
    await until(
      async () => (await countOf(`request_id in (${ids.map((id) => `'${id}'`).join()})`)).rows === ids.length,
      () => 'the reads are recorded',
    );
    const found = await find({ personal: true, actor: `apiKey:${service.keyId}` });
    expect(ids.map((id) => found.find(({ requestId }) => requestId === id)?.readingId)).toEqual([
      readingId,
      null,
      null,
    ]);
  });

  it('exist also for a refused reader, and for one who hung up', async () => {
    const token = await portal.mint(service.customer.workspaceId, 'credits:read', 'ada');
    const other = await stranger();
    const path = `/api/v1/readings/${readingId}`;
    expect(await ask('GET', path, { authorization: `Bearer ${token}` })).toBe(403);
    expect(await ask('GET', path, { 'x-api-key': other.apiKey })).toBe(403);
    const unfinished = (await service.customer.create()).body.readingId;
    const hangUp = () =>
      fetch(`${service.api.baseUrl}/api/v1/readings/${unfinished}`, {
        headers: { 'x-api-key': service.customer.apiKey, prefer: 'wait=30' },
        signal: AbortSignal.timeout(50),
      }).catch(() => null);
    await until(
      async () => {
        // A busy machine may give up before it has sent anything.
        await hangUp();
        return (await countOf(`reading_id = '${unfinished}'`)).rows >= 2;
      },
      () => 'both requests are recorded',
    );

    const refused = await find({ readingId, refused: true });
    expect(refused.map(({ actor, workspaceId, status }) => [actor, workspaceId, status]).toSorted()).toEqual(
      [
        [expect.stringMatching(/^apiKey:/), other.workspaceId, 403],
        ['user:ada', service.customer.workspaceId, 403],
      ].toSorted(),
    );
  });
});

describe('refused requests', () => {
  it('are recorded by the pattern of their route, without the input', async () => {
    const before = seen.length;
    const odd = { 'x-api-key': `${CANARY}-key`, 'user-agent': CANARY, cookie: CANARY };
    expect(await ask('GET', `/api/v1/readings/${CANARY}?name=${CANARY}`, odd)).toBe(401);
    expect(await ask('GET', `/${CANARY}/unknown?${CANARY}`, odd)).toBe(404);
    expect(await ask('PUT', '/api/v1/readings', odd)).toBe(405);
    expect(await ask('POST', '/api/v1/readings', odd, CANARY.repeat(3_000))).toBe(413);
    const own = { 'x-api-key': service.customer.apiKey, 'content-type': 'application/json' };
    expect(await ask('POST', '/api/v1/readings', own, JSON.stringify({ [CANARY]: CANARY }))).toBe(400);
    expect(await ask('GET', `/api/v1/readings/${CANARY}`, own)).toBe(404);
    const asked = seen.slice(before);
    const list = asked.map(({ id }) => `'${id.slice(4)}'`).join();
    await until(
      async () => (await countOf(`request_id in (${list})`)).rows === asked.length,
      () => 'they are recorded',
    );

    const records = await find({ refused: true, address: '127.0.0.0/8' });
    const routes = asked.map(({ id }) => records.find(({ requestId }) => `req_${requestId}` === id)?.route);
    expect(routes).toEqual([
      '/api/v1/readings/:readingId',
      'unmatched',
      'unmatched',
      '/api/v1/readings',
      '/api/v1/readings',
      '/api/v1/readings/:readingId',
    ]);
    const { rows } = await service.pool.query<{ text: string }>(
      'select r::text as text from platform.audit_record r',
    );
    expect(rows.filter(({ text }) => text.includes(CANARY))).toHaveLength(0);
  });

  it('cannot fill the disk: floods of unknown callers, and of a key from elsewhere, are only counted', async () => {
    const FLOOD = 300;
    const rows = async () => (await countOf('true')).rows;
    const before = await rows();
    const strangers = async () => (await countOf('actor is null')).requests;
    const strangersBefore = await strangers();
    const elsewhere = await service.customer.withKey('--network', '192.0.2.0/24');
    const flood = async (headers: Record<string, string>, path: string) => {
      for (let sent = 0; sent < FLOOD; sent += 50) {
        await Promise.all(Array.from({ length: 50 }, () => ask('GET', path, headers)));
      }
    };
    await flood({ 'x-api-key': 'nobody' }, '/api/v1/readings');
    await flood({ 'x-api-key': elsewhere.apiKey }, '/api/v1/keys');
    const beforeLast = seen.length;
    await flood({}, '/nothing');
    await service.stopApi();
    expect((await rows()) - before).toBeLessThan(100);
    // The process writes all counts before it stops.
    expect((await countOf(`route = '/api/v1/keys' and status in (403, 429)`)).requests).toBe(FLOOD);
    expect((await strangers()) - strangersBefore).toBe(2 * FLOOD);
    const refused = seen.slice(beforeLast).filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    const ids = refused.map(({ id }) => `'${id.slice(4)}'`).join();
    expect((await countOf(`request_id in (${ids}) and address = '127.0.0.1'`)).rows).toBeGreaterThan(0);
    await service.startApi();
  });

  it('get no row each when their caller hangs up before the limit is checked', async () => {
    const CALLS = 40;
    const { apiKey, keyId: id } = await stranger();
    const headers = { 'x-api-key': apiKey };
    await until(
      async () => (await ask('POST', '/api/v1/webhooks', headers, '{}')) === 429,
      () => 'the bucket is empty',
    );
    const lock = await service.pool.connect();
    await lock.query('begin; lock table platform.rate_bucket in share mode');
    const caller = new AbortController();
    const calls = Array.from({ length: CALLS }, () =>
      fetch(`${service.api.baseUrl}/api/v1/webhooks/none`, {
        method: 'DELETE',
        headers,
        signal: caller.signal,
      }).catch(() => null),
    );
    await until(
      async () => {
        const { rows } = await lock.query('select 1 from pg_locks where not granted');
        return rows.length > 0;
      },
      () => 'the limit is checked',
    );
    await delay(2_000);
    caller.abort();
    await Promise.all(calls);
    await delay(50);
    await lock.query('rollback');
    lock.release();
    await service.stopApi();
    const ofCaller = await countOf(`actor = 'apiKey:${id}' and method = 'DELETE'`);
    expect(ofCaller.requests).toBeGreaterThan(15);
    expect(ofCaller.rows).toBeLessThan(15);
    await service.startApi();
  });
});

describe('the operator’s terminal', () => {
  const run = (args: readonly string[]): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [programPath('ops'), ...args], {
        env: service.stores.environment,
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (text: Buffer) => (printed += text.toString()));
      child.once('exit', () => resolve(printed));
    });

  it('shows labels, names and subjects of strangers as text, whatever characters they contain', async () => {
    const { keyId: labelled } = await issue(service.customer.workspaceId, 'ada', {
      label: `label${NASTY}\n`,
    });
    const workspace = ['--workspace', service.customer.workspaceId];
    await until(
      async () => (await countOf(`actor like 'user:ada%'`)).rows > 0,
      () => 'it is recorded',
    );

    const commands: [args: string[], shows: string][] = [
      [['key', 'list', ...workspace], 'label'],
      [['key', 'list', ...workspace, '--json'], 'label'],
      [['audit', ...workspace], 'user:ada'],
      [['streams', 'show', `workspace-${service.customer.workspaceId}`], 'label'],
      [['audit', `--wrong${NASTY}`], 'wrong'],
    ];
    const printed: { args: readonly string[]; shows: string; text: string }[] = [];
    for (let from = 0; from < commands.length; from += 2) {
      const two = commands.slice(from, from + 2);
      printed.push(
        ...(await Promise.all(two.map(async ([args, shows]) => ({ args, shows, text: await run(args) })))),
      );
    }
    for (const { args, shows, text } of printed) {
      expect([args, text]).toEqual([args, expect.stringContaining(shows)]);
      expect([args, UNSAFE.exec(text)?.index ?? null]).toEqual([args, null]);
    }
    const keys = JSON.parse(printed[1]!.text) as { keys: { keyId: string; label: string }[] };
    expect(keys.keys.find((key) => key.keyId === labelled)?.label).toBe(`label${NASTY}\n`);
  });
});

describe('the last use of a key', () => {
  it('is shown with a precision of an hour', async () => {
    const token = await portal.mint(service.customer.workspaceId, 'keys:read');
    const lastUse = async () => {
      const answer = await fetch(`${service.api.baseUrl}/api/v1/keys?limit=100`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const { data } = (await answer.json()) as { data: { keyId: string; lastUsedAt: string | null }[] };
      return data.find((key) => key.keyId === service.keyId)?.lastUsedAt ?? null;
    };
    await until(
      async () => (await lastUse()) !== null,
      () => 'it is written',
    );
    expect(await lastUse()).toMatch(/T\d\d:00:00\.000Z$/);
  });
});
