import { expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setSeed } from '#platform/http/request-seed.js';
import { setPrincipal } from '#platform/auth/authentication.js';
import { OwnReadingGuard } from './published-version.js';
import type { DocumentLink, NewLink } from '../application/links.js';
import { RepublishDocumentController } from './documents.js';
import { LinksController } from './links.js';

const NOON = Date.parse('2026-11-29T12:00:00.000Z');
const BODY = { format: 'pdf' as const, version: undefined, expiresInSeconds: 3_600 } as never;
const READING = {
  readingId: randomUUID(),
  workspaceId: 'ws_1',
  status: 'completed',
  erasedAt: null,
  livemode: true,
};
const guard = new OwnReadingGuard({ execute: async () => READING } as never);

/** A store that keeps the first link of each id, as LinkStore does. */
const stored = new Map<string, NewLink>();
const links = {
  add: async (link: NewLink) => {
    const kept = stored.get(link.linkId) ?? link;
    stored.set(link.linkId, kept);
    return kept as unknown as DocumentLink;
  },
};

let now = NOON;
const controller = new LinksController(
  { require: async () => undefined } as never,
  links as never,
  {} as never,
  { now: () => now },
  { HOST: '127.0.0.1', PUBLIC_URL: 'https://api.example.com' },
);
/** A request of the workspace about its reading. */
const requestOf = async () => {
  const request = { socket: { localPort: 3_000 }, params: READING } as never;
  setPrincipal(request, { actor: 'apiKey:k1', workspaceId: 'ws_1', sees: ['live'] } as never);
  await guard.canActivate({ switchToHttp: () => ({ getRequest: () => request }) } as never);
  return request;
};
const asked = async (seed?: Buffer) => {
  const request = await requestOf();
  if (seed) setSeed(request, seed);
  return controller.create(request, BODY, {} as never);
};

it('answers a repeated request with the link that the first attempt made, and its URL', async () => {
  const first = await asked(Buffer.alloc(32, 1));
  now = NOON + 60_000;
  expect(await asked(Buffer.alloc(32, 1))).toEqual(first);
  expect(stored.size).toBe(1);
  const other = await asked(Buffer.alloc(32, 2));
  expect([other.linkId === first.linkId, other.url === first.url]).toEqual([false, false]);
});

it('makes another link for each request without an Idempotency-Key', async () => {
  const both = [await asked(), await asked()];
  expect(new Set(both.map(({ url }) => url)).size).toBe(2);
});

it('gives no link to a caller whose key ended meanwhile', async () => {
  const { add } = links;
  links.add = async () => 'key_ended' as never;
  await expect(asked()).rejects.toMatchObject({
    code: 'unauthenticated',
    options: { headers: { 'WWW-Authenticate': 'ApiKey realm="api"' } },
  });
  links.add = add;
});

it('gives no other version to a document with as many as it may have', async () => {
  const commands = { execute: async () => ({ outcome: 'too_many_versions', most: 20 }) };
  const republication = new RepublishDocumentController(commands as never);
  const body = { onlyIfTextsChanged: false };
  await expect(
    republication.republish(await requestOf(), body, {} as never, {} as never),
  ).rejects.toMatchObject({
    code: 'version_limit_reached',
    options: { detail: 'A document has at most 20 versions' },
  });
});
