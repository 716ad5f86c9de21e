import { beforeEach, describe, expect, it } from '@jest/globals';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { RevokedKeys } from '../authentication/api-key.authenticator.js';
import { IssueApiKey, OpenWorkspace, RotateApiKey } from '../contracts/index.js';
import type { ApiKeyQuery } from '../read-models/queries.js';
import { createWorkspaceExecutor, OpenWorkspaceHandler } from './workspaces.js';
import { IssueApiKeyHandler, RotateApiKeyHandler } from './api-keys.js';

const NOW = Date.parse('2026-04-04T00:00:00Z');
const by = ownRequest('operator:ada');
const clock = { now: () => NOW };

let closed: string[];
let shortened: unknown[];
let revoked: RevokedKeys;
let handler: RotateApiKeyHandler;
let workspaceId: string;
let keyId: string;

/** No worker runs: nothing is projected. */
beforeEach(async () => {
  closed = [];
  shortened = [];
  revoked = new RevokedKeys();
  const keys = {
    close: async (id: string) => void closed.push(id),
    shorten: async (...end: unknown[]) => void shortened.push(end),
    find: async () => null,
  };
  const executor = createWorkspaceExecutor(new InMemoryEventStore());
  ({ workspaceId } = await new OpenWorkspaceHandler(executor, clock).execute(
    new OpenWorkspace('Atelier', by),
  ));
  const asked = { label: 'shop', mode: 'test', scopes: null, networks: null, expiresAt: null } as const;
  const issued = await new IssueApiKeyHandler(executor, clock).execute(
    new IssueApiKey(workspaceId, asked, by),
  );
  keyId = issued.outcome === 'issued' ? issued.keyId : '';
  handler = new RotateApiKeyHandler(executor, clock, keys as unknown as ApiKeyQuery, revoked);
});

describe('a rotation', () => {
  it('without overlap ends the previous key at once, even while no worker runs', async () => {
    const rotated = await handler.execute(new RotateApiKey(keyId, 0, by, workspaceId));
    expect(rotated).toMatchObject({ outcome: 'rotated', previousExpiresAt: '2026-04-04T00:00:00.000Z' });
    expect([closed, shortened, revoked.has(keyId)]).toEqual([[keyId], [], true]);
  });

  it('with overlap lets the previous key end with it, even while no worker runs', async () => {
    const rotated = await handler.execute(new RotateApiKey(keyId, 60, by, workspaceId));
    expect(rotated).toMatchObject({
      apiKey: expect.stringMatching(/^ek_test_/),
      terms: { label: 'shop', mode: 'test' },
      previousExpiresAt: '2026-04-04T00:01:00.000Z',
    });
    expect([closed, shortened, revoked.has(keyId)]).toEqual([[], [[keyId, NOW + 60_000]], false]);
  });

  it('of a key that nobody knows is refused', async () => {
    const unknown = { outcome: 'unknown_key' };
    expect(await handler.execute(new RotateApiKey('00000000', 60, by, workspaceId))).toEqual(unknown);
    expect(await handler.execute(new RotateApiKey(keyId, 60, by, null))).toEqual(unknown);
  });
});
