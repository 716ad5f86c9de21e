import { beforeEach, describe, expect, it } from '@jest/globals';
import { UnansweredAppends } from '#event-sourcing/testing/unanswered-appends.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import {
  IssueApiKey,
  type KeyManager,
  OpenWorkspace,
  OPERATOR,
  RevokeApiKey,
  RotateApiKey,
} from '../contracts/index.js';
import { isHashOf, parseApiKey } from '../domain/api-key.js';
import type { ApiKeyQuery } from '../read-models/queries.js';
import {
  createWorkspaceExecutor,
  IssueApiKeyHandler,
  KEYS_PER_WORKSPACE,
  OpenWorkspaceHandler,
  RevokeApiKeyHandler,
  RotateApiKeyHandler,
} from './workspaces.js';

const seed = Buffer.alloc(32, 7);
const other = Buffer.alloc(32, 8);
/** Each attempt is a request of its own; what it shares with the others is the seed. */
const attempt = () => ownRequest('user:owner', undefined, seed);
const asked = { label: 'shop', mode: 'live', scopes: null, networks: null, expiresAt: null } as const;
const none = async () => undefined;
const keys = { close: none, shorten: none, find: none, known: none } as unknown as ApiKeyQuery;

let now: number;
const clock = { now: () => (now += 1_000) };
let store: UnansweredAppends;
let workspaceId: string;
let issuing: IssueApiKeyHandler;
let rotating: RotateApiKeyHandler;
let revoking: RevokeApiKeyHandler;

/** The keys that were issued, with their hashes. */
const issuedKeys = () =>
  store.log
    .filter(({ type }) => type === 'ApiKeyIssued')
    .map(({ data }) => data as { keyId: string; hash: string });
const issue = (by = attempt(), manager: KeyManager = OPERATOR) =>
  issuing.execute(new IssueApiKey(workspaceId, asked, by, manager));

beforeEach(async () => {
  now = Date.parse('2026-04-04T00:00:00Z');
  store = new UnansweredAppends();
  const executor = createWorkspaceExecutor(store);
  const opened = new OpenWorkspace('Atelier', ownRequest('operator:ada'));
  ({ workspaceId } = await new OpenWorkspaceHandler(executor, clock).execute(opened));
  issuing = new IssueApiKeyHandler(executor, clock, keys);
  rotating = new RotateApiKeyHandler(executor, clock, keys);
  revoking = new RevokeApiKeyHandler(executor, clock, keys);
});

describe('A request whose first attempt was done without an answer', () => {
  it('issues one key, and answers with it', async () => {
    await expect(store.without(() => issue())).rejects.toThrow('no answer');
    const answer = await issue();
    expect(answer).toMatchObject({ outcome: 'issued', terms: { label: 'shop' } });
    const [key, ...more] = issuedKeys();
    expect(more).toEqual([]);
    expect(isHashOf(key!.hash, parseApiKey((answer as { apiKey: string }).apiKey)!)).toBe(true);
  });

  it.each([0, 60])('rotates a key once, with an overlap of %s seconds', async (overlap) => {
    const first = (await issue(ownRequest('user:owner'))) as { keyId: string };
    // The new one takes the last place.
    for (let nr = 2; nr < KEYS_PER_WORKSPACE; nr += 1) await issue(ownRequest('user:owner'));
    const before = issuedKeys().length;
    const rotate = () => rotating.execute(new RotateApiKey(first.keyId, overlap, attempt(), workspaceId));
    await expect(store.without(rotate)).rejects.toThrow('no answer');
    const answer = await rotate();
    expect(answer).toMatchObject({ outcome: 'rotated', terms: { label: 'shop' } });
    const [key, ...more] = issuedKeys().slice(before);
    expect(more).toEqual([]);
    expect(isHashOf(key!.hash, parseApiKey((answer as { apiKey: string }).apiKey)!)).toBe(true);
  });

  it('shows the key to nobody who may not give it', async () => {
    const first = (await issue(ownRequest('user:owner'))) as { keyId: string };
    const rotate = (manager: KeyManager) =>
      rotating.execute(
        new RotateApiKey(first.keyId, 0, ownRequest('x', undefined, other), workspaceId, manager),
      );
    await expect(store.without(() => issue())).rejects.toThrow('no answer');
    await expect(store.without(() => rotate(OPERATOR))).rejects.toThrow('no answer');
    const session: KeyManager = { keyId: null, sees: ['live'], scopes: ['credits:read'] };
    const refused = { outcome: 'beyond_caller', term: 'scopes', scope: 'readings:read' };
    expect(await issue(attempt(), session)).toEqual(refused);
    expect(await rotate(session)).toEqual(refused);
  });

  it('issues no second key after the first was revoked', async () => {
    await expect(store.without(() => issue())).rejects.toThrow('no answer');
    const [{ keyId } = { keyId: '' }] = issuedKeys();
    await revoking.execute(new RevokeApiKey(keyId, null, ownRequest('user:owner'), workspaceId));
    expect(await issue()).toEqual({ outcome: 'unknown_key' });
    expect(issuedKeys()).toHaveLength(1);
  });
});

it('A key that was revoked long ago is revoked again without an error, by its row', async () => {
  const row = { workspaceId, mode: 'live', revokedAt: new Date(now) };
  const known = { ...keys, find: async () => row } as unknown as ApiKeyQuery;
  const again = (sees: readonly Mode[], id = workspaceId) =>
    new RevokeApiKeyHandler(createWorkspaceExecutor(store), clock, known).execute(
      new RevokeApiKey('Ab3dE6gH', null, ownRequest('user:owner'), id, sees),
    );
  expect(await again(['live'])).toEqual({ outcome: 'already_revoked' });
  expect(await again(['test'])).toEqual({ outcome: 'unknown_key' });
  expect(await again(['live'], 'ws_other')).toEqual({ outcome: 'unknown_key' });
});
