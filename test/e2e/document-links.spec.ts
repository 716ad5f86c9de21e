import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person, until, type Answer } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { inDatabase } from './support/in-database.js';

interface Link {
  readonly linkId: string;
  readonly url?: string;
  readonly expiresAt: string;
}

const EVENT_LAG_MS = 30_000;

let stack: Stack;
let customer: Integrator;
let readingId: string;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 400);
  readingId = (await customer.create(person())).body.readingId;
  await customer.untilEnded(readingId);
});

afterAll(async () => {
  await stack?.stop();
});

const path = (): string => `/api/v1/readings/${readingId}/document`;
const create = (body: object = { format: 'pdf' }, headers: Record<string, string> = {}) =>
  customer.call<Link & { code?: string }>('POST', `${path()}/links`, { body, headers });
const created = async (body?: object): Promise<Required<Link>> => {
  const answer = await create(body);
  expect(answer.status).toBe(201);
  return answer.body as Required<Link>;
};
const list = async (query = '') => {
  const { body } = await customer.call<{ data: Record<string, unknown>[]; nextCursor: string | null }>(
    'GET',
    `${path()}/links${query}`,
  );
  return body;
};
const revoke = (linkId: string) => customer.call('DELETE', `${path()}/links/${linkId}`);
const refusal = async (url: string): Promise<unknown[]> => {
  const answer = await fetch(url);
  return [answer.status, ((await answer.json()) as { code: string }).code];
};
const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

describe('a link to a document', () => {
  it.each([
    ['pdf', 'application/pdf', 'inline; filename="reading.pdf"'],
    ['markdown', 'text/markdown; charset=utf-8', 'inline; filename="reading.md"'],
    ['document_v1', 'application/json', 'inline; filename="reading.json"'],
  ])(
    'gives the bytes of %s without a key, and nothing to keep or follow',
    async (format, type, disposition) => {
      const { url, expiresAt } = await created({ format });
      expect(url).toMatch(new RegExp(`^${stack.baseUrl}/d/[\\w-]{40}$`));
      expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_590_000);
      expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(3_600_000);
      const answer = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } });
      expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
        200,
        {
          'content-type': type,
          'content-disposition': disposition,
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-robots-tag': 'noindex, nofollow',
          'x-content-type-options': 'nosniff',
          'content-security-policy': expect.stringContaining("default-src 'none'"),
        },
      ]);
      const withKey = await fetch(`${stack.baseUrl}${path()}?format=${format}`, {
        headers: { 'x-api-key': customer.apiKey },
      });
      // Not `toEqual`: a difference of megabytes is printed byte by byte.
      const [given, own] = [await answer.arrayBuffer(), await withKey.arrayBuffer()];
      expect(Buffer.from(given).equals(Buffer.from(own))).toBe(true);
      expect(answer.headers.get('etag')).toBe(withKey.headers.get('etag'));
      const head = await fetch(`${url}?utm_source=mail`, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, type, '']);
    },
  );

  it('gives the newest version when it is read, or the version that it names', async () => {
    const newest = await created({ format: 'markdown' });
    const first = await created({ format: 'markdown', version: 1 });
    await customer.call('POST', `${path()}/republish`);
    await until(
      async () => (await customer.reading(readingId)).document.version === 2,
      () => 'version 2',
    );
    // Another read model than the reading's.
    await until(
      async () => (await (await fetch(newest.url)).text()).includes('documentVersion: 2\n'),
      () => 'the link leads to version 2',
    );
    expect(await (await fetch(first.url)).text()).toMatch(/documentVersion: 1/);
    expect((await create({ format: 'pdf', version: 3 })).body.code).toBe('version_not_found');
  });

  it('is listed without its token, with the count of its uses', async () => {
    const { linkId, url } = await created();
    for (let use = 0; use < 3; use += 1) await (await fetch(url)).arrayBuffer();
    await fetch(url, { method: 'HEAD' });
    const { data, nextCursor } = await list('?limit=1');
    expect(data).toMatchObject([{ linkId, format: 'pdf', version: null, status: 'live', uses: 3 }]);
    expect(Date.parse(String(data[0]!['lastUsedAt']))).toBeGreaterThan(Date.now() - 60_000);
    expect(JSON.stringify(await list())).not.toContain(tokenOf(url));
    const rest = await list(`?limit=100&cursor=${nextCursor}`);
    expect(rest.data.map((one) => one['linkId'])).not.toContain(linkId);
    expect(rest.data.length).toBeGreaterThan(2);
  });

  it('ends when it is revoked or expires, and stays listed', async () => {
    const [revoked, expired] = [await created(), await created({ format: 'pdf', expiresInSeconds: 60 })];
    expect((await revoke(revoked.linkId)).status).toBe(204);
    expect((await revoke(revoked.linkId)).status).toBe(204);
    expect(await refusal(revoked.url)).toEqual([410, 'link_expired']);
    await inDatabase(
      stack,
      "update publishing.document_link set expires_at = now() - interval '1 second' where link_id = $1",
      [expired.linkId],
    );
    expect(await refusal(expired.url)).toEqual([410, 'link_expired']);
    const { data } = await list();
    const statusOf = ({ linkId }: Link) => data.find((one) => one['linkId'] === linkId)?.['status'];
    expect([statusOf(revoked), statusOf(expired)]).toEqual(['revoked', 'expired']);
    const unknown = await revoke('7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41');
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'link_not_found']);
  });

  it('is refused for wrong bodies, unfinished and other people’s readings', async () => {
    const pointers = ({ body }: Answer): unknown =>
      (body['errors'] as { pointer: string; code: string }[]).map(({ pointer, code }) => [pointer, code]);
    const refused = async (body: object) => pointers((await create(body)) as never);
    expect(await refused({})).toEqual([['/format', 'invalid_format']]);
    expect(await refused({ format: 'docx' })).toEqual([['/format', 'invalid_format']]);
    for (const expiresInSeconds of [59, 2_592_001, 1.5, '3600', null])
      expect(await refused({ format: 'pdf', expiresInSeconds })).toEqual([
        ['/expiresInSeconds', 'invalid_value'],
      ]);
    expect(await refused({ format: 'pdf', version: 0 })).toEqual([['/version', 'invalid_value']]);
    expect(await refused({ format: 'pdf', days: 3 })).toEqual([['/days', 'unknown_field']]);
    const stranger = await Integrator.open(stack, 0);
    for (const [method, target] of [
      ['POST', `${path()}/links`],
      ['GET', `${path()}/links`],
      ['DELETE', `${path()}/links/7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41`],
    ] as const)
      expect((await stranger.call(method, target)).body['code']).toBe('wrong_workspace');
  });

  it('is not made twice for one key, and its URL is not shown again', async () => {
    const headers = { 'idempotency-key': 'link-1' };
    const first = await create({ format: 'pdf' }, headers);
    const again = await create({ format: 'pdf' }, headers);
    const { url: _, ...shown } = first.body;
    expect([again.status, again.body]).toEqual([201, shown]);
    expect(first.body.url).toBeDefined();
  });

  it('that nobody made is 404, also with a wrong checksum', async () => {
    const { url } = await created();
    const token = tokenOf(url);
    const wrong = token.startsWith('A') ? `B${token.slice(1)}` : `A${token.slice(1)}`;
    for (const other of [wrong, token.slice(1), 'x'])
      expect(await refusal(url.replace(token, other))).toEqual([404, 'link_not_found']);
  });

  it('tells a person in a browser in words why it gives nothing, and programs in JSON', async () => {
    const { linkId, url } = await created();
    await revoke(linkId);
    const unknown = `${stack.baseUrl}/d/no-such-token`;
    for (const [link, status, words] of [
      [url, 410, /lien a expiré[^]*link has expired/],
      [unknown, 404, /aucun document[^]*no document/],
    ] as const) {
      for (const accept of ['text/html', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8']) {
        const answer = await fetch(link, { headers: { accept } });
        expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
          status,
          {
            'content-type': 'text/html; charset=utf-8',
            'cache-control': 'no-store',
            'referrer-policy': 'no-referrer',
            'x-robots-tag': 'noindex, nofollow',
            'content-security-policy': expect.stringContaining("default-src 'none'"),
            vary: 'Accept',
          },
        ]);
        const page = await answer.text();
        expect(page).toMatch(words);
        expect(page).toMatch(/lang="fr"[^]*lang="en"/);
        expect(page).not.toContain(tokenOf(link));
      }
      const head = await fetch(link, { method: 'HEAD', headers: { accept: 'text/html' } });
      expect([head.status, await head.text()]).toEqual([status, '']);
      for (const accept of ['*/*', 'application/json', 'application/json, text/html'])
        expect((await fetch(link, { headers: { accept } })).headers.get('content-type')).toBe(
          'application/problem+json',
        );
    }
    expect((await fetch(unknown, { headers: { accept: 'image/png' } })).status).toBe(406);
  });

  it('is in the audit records with its id, and its token is not', async () => {
    const { url, linkId } = await created();
    await (await fetch(url)).arrayBuffer();
    let records: { actor: string; route: string; personal: boolean }[] = [];
    await until(
      async () => {
        const found = (await stack.ops(['audit', '--reading', readingId])) as { records: typeof records };
        records = found.records.filter(({ actor }) => actor === `link:${linkId}`);
        return records.length > 0;
      },
      () => 'the audit record',
      EVENT_LAG_MS,
    );
    expect(records).toMatchObject([{ route: '/d/:token', personal: true }]);
    expect(JSON.stringify(records)).not.toContain(tokenOf(url));
  });

  it('ends with all that a leaked key issued, by one command', async () => {
    const keyOf = async (scopes: string) => {
      const options = ['--workspace', customer.workspaceId, '--scopes', scopes];
      return (await stack.ops(['key', 'issue', ...options])) as { keyId: string; apiKey: string };
    };
    const leaked = await keyOf('documents:read,keys:write');
    const as = (apiKey: string) => ({ 'x-api-key': apiKey });
    const issued = await customer.call<{ keyId: string; apiKey: string }>('POST', '/api/v1/keys', {
      body: {},
      headers: as(leaked.apiKey),
    });
    const own = await created();
    const stolen = await create({ format: 'pdf' }, as(issued.body.apiKey));
    const revoke = () => stack.ops(['key', 'revoke', '--key', leaked.keyId, '--and-issued']);
    const ended = { keyId: leaked.keyId, issued: [issued.body.keyId] };
    expect(await revoke()).toEqual({ ...ended, outcome: 'revoked', endedLinks: 1 });
    for (const { apiKey } of [leaked, issued.body])
      expect((await customer.call('GET', `${path()}/links`, { headers: as(apiKey) })).status).toBe(401);
    expect(await refusal(stolen.body.url!)).toEqual([410, 'link_expired']);
    expect((await fetch(own.url)).status).toBe(200);
    expect((await list('?limit=1')).data).toHaveLength(1);
    expect(await revoke()).toEqual({ ...ended, outcome: 'already_revoked', endedLinks: 0 });
  });

  it('dies with the erasure of the reading', async () => {
    const { url, linkId } = await created();
    const minted = ['token', 'mint', '--workspace', customer.workspaceId, '--scope', 'readings:write'];
    const { token } = (await stack.ops(minted)) as { token: string };
    const erased = await fetch(`${stack.baseUrl}/api/v1/readings/${readingId}/personal-data`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(erased.status).toBe(204);
    await until(
      async () => (await refusal(url))[0] === 410,
      () => 'the end of the link',
      EVENT_LAG_MS,
    );
    expect(await refusal(url)).toEqual([410, 'link_expired']);
    expect((await create()).body.code).toBe('reading_erased');
    await until(
      async () => (await list()).data.every(({ status }) => status !== 'live'),
      () => 'the end of all links',
      EVENT_LAG_MS,
    );
    expect((await list()).data.find((one) => one['linkId'] === linkId)).toMatchObject({ status: 'revoked' });
  });
});
