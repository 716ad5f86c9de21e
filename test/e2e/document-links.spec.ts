import { beforeAll, expect, it } from '@jest/globals';
import { fixture, sharedStack } from '../support/index.js';
import { Integrator, until } from '../support/integrator.js';

interface Link {
  readonly linkId: string;
  readonly url: string;
  readonly expiresAt: string;
}
interface Listed {
  readonly data: readonly { readonly linkId: string; readonly status: string; readonly lastUsedAt: string }[];
  readonly nextCursor: string | null;
}

const stack = fixture(sharedStack);
const customer = fixture(() => Integrator.open(stack, 400));
let readingId: string;
beforeAll(async () => {
  readingId = await customer.published();
});

const path = (): string => `/api/v1/readings/${readingId}/document`;
const create = (body: object = { format: 'pdf' }, headers: Record<string, string> = {}) =>
  customer.call<Link & { code?: string }>('POST', `${path()}/links`, { body, headers });
const created = async (body?: object): Promise<Link> => {
  const answer = await create(body);
  expect(answer.status).toBe(201);
  return answer.body;
};
const list = async (query = '') => (await customer.call<Listed>('GET', `${path()}/links${query}`)).body;
const revoke = async (linkId: string) => (await customer.call('DELETE', `${path()}/links/${linkId}`)).status;
const refusal = async (url: string): Promise<unknown[]> => {
  const answer = await fetch(url);
  return [answer.status, ((await answer.json()) as { code: string }).code];
};
const ENDED = [410, 'link_expired'];
const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);
/** Of every answer to a link that a browser opens. */
const PRIVATE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  'content-security-policy': expect.stringContaining("default-src 'none'"),
};

it.each([
  ['pdf', 'application/pdf', 'pdf'],
  ['markdown', 'text/markdown; charset=utf-8', 'md'],
  ['document_v1', 'application/json', 'json'],
])(
  'A link gives the bytes of %s without a key, and nothing to keep or follow',
  async (format, type, ending) => {
    const { url, expiresAt } = await created({ format });
    expect(url).toMatch(new RegExp(`^${stack.baseUrl}/d/[\\w-]{40}$`));
    const lasts = Date.parse(expiresAt) - Date.now();
    expect([lasts > 3_590_000, lasts <= 3_600_000]).toEqual([true, true]);
    const answer = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
      200,
      {
        ...PRIVATE,
        'content-type': type,
        'content-disposition': `inline; filename="reading.${ending}"`,
        'x-content-type-options': 'nosniff',
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

it('A link gives the newest version when it is read, or the version that it names', async () => {
  const newest = await created({ format: 'markdown' });
  const first = await created({ format: 'markdown', version: 1 });
  await customer.call('POST', `${path()}/republish`);
  const isNew = async () => (await (await fetch(newest.url)).text()).includes('documentVersion: 2\n');
  await until(isNew, 'the link leads to version 2');
  expect(await (await fetch(first.url)).text()).toMatch(/documentVersion: 1/);
  expect((await create({ format: 'pdf', version: 3 })).body.code).toBe('version_not_found');
});

it('A link is listed without its token, with the count of its uses, and stays so when it ends', async () => {
  const [revoked, expired] = [await created(), await created({ format: 'pdf', expiresInSeconds: 60 })];
  const { linkId, url } = await created();
  for (let use = 0; use < 2; use += 1) await (await fetch(url)).arrayBuffer();
  await fetch(url, { method: 'HEAD' });
  const { data, nextCursor } = await list('?limit=1');
  expect(data).toMatchObject([{ linkId, format: 'pdf', version: null, status: 'live', uses: 2 }]);
  expect(Date.parse(data[0]!.lastUsedAt)).toBeGreaterThan(Date.now() - 60_000);
  expect(JSON.stringify(await list())).not.toContain(tokenOf(url));
  const rest = await list(`?limit=100&cursor=${nextCursor}`);
  expect(rest.data.slice(0, 2).map((one) => one.linkId)).toEqual([expired.linkId, revoked.linkId]);

  expect([await revoke(revoked.linkId), await revoke(revoked.linkId)]).toEqual([204, 204]);
  await stack.query(
    "update publishing.document_link set expires_at = now() - interval '1 second' where link_id = $1",
    [expired.linkId],
  );
  for (const one of [revoked, expired]) expect(await refusal(one.url)).toEqual(ENDED);
  const statuses = (await list()).data.slice(0, 3).map(({ status }) => status);
  expect(statuses).toEqual(['live', 'expired', 'revoked']);
});

it.each([
  [{ format: 'docx' }, '/format invalid_format'],
  [{ format: 'pdf', expiresInSeconds: 59 }, '/expiresInSeconds invalid_value'],
  [{ format: 'pdf', expiresInSeconds: 2_592_001 }, '/expiresInSeconds invalid_value'],
  [{ format: 'pdf', version: 0 }, '/version invalid_value'],
])('A link is refused for %j', async (body, error) => {
  const answer = (await create(body)).body as unknown as { errors: { pointer: string; code: string }[] };
  expect(answer.errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([error]);
});

it('A link that nobody made is 404, also with a wrong checksum', async () => {
  const { url } = await created();
  const token = tokenOf(url);
  const wrong = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
  for (const other of [wrong, token.slice(1), 'x'])
    expect(await refusal(url.replace(token, other))).toEqual([404, 'link_not_found']);
});

it('A link tells a person in a browser in words why it gives nothing, and programs in JSON', async () => {
  const { linkId, url } = await created();
  await revoke(linkId);
  const unknown = `${stack.baseUrl}/d/no-such-token`;
  for (const [link, status, words] of [
    [url, 410, /lien a expiré[^]*link has expired/],
    [unknown, 404, /aucun document[^]*no document/],
  ] as const) {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const answer = await fetch(link, { headers: { accept } });
    expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
      status,
      { ...PRIVATE, 'content-type': 'text/html; charset=utf-8', vary: 'Accept' },
    ]);
    const page = await answer.text();
    expect(page).toMatch(words);
    expect(page).toMatch(/lang="fr"[^]*lang="en"/);
    expect(page).not.toContain(tokenOf(link));
    const { headers } = await fetch(link, { headers: { accept: '*/*' } });
    expect(headers.get('content-type')).toBe('application/problem+json');
  }
  expect((await fetch(unknown, { headers: { accept: 'image/png' } })).status).toBe(406);
});

it('Links die with the erasure of the reading', async () => {
  const { url, linkId } = await created();
  const data = `${stack.baseUrl}/api/v1/readings/${readingId}/personal-data`;
  const headers = await customer.bearer('readings:write');
  expect((await fetch(data, { method: 'DELETE', headers })).status).toBe(204);
  await until(async () => (await refusal(url))[0] === 410, 'the end of the link');
  expect(await refusal(url)).toEqual(ENDED);
  expect((await create()).body.code).toBe('reading_erased');
  const isOver = async () => (await list()).data.every(({ status }) => status !== 'live');
  await until(isOver, 'the end of all links');
  expect((await list()).data.find((one) => one.linkId === linkId)).toMatchObject({ status: 'revoked' });
});
