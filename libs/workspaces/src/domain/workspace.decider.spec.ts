import { describe, expect, it } from '@jest/globals';
import { MODES } from '#event-sourcing/core/request-context.js';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import {
  OPERATOR,
  type ApiKeyTerms,
  type Choices,
  type KeyManager,
  type WorkspaceEvent,
} from '../contracts/index.js';
import { type WorkspaceCommand, workspaceDecider } from './workspace.decider.js';

const NOW = Date.parse('2026-04-04T00:00:00Z');
const ORDINARY = ['readings:read', 'readings:write'];
const TERMS: ApiKeyTerms = {
  label: null,
  mode: 'live',
  scopes: ['readings:read'],
  networks: ['203.0.113.0/24'],
  expiresAt: null,
};
const ASKED = { label: null, mode: 'live', scopes: null, networks: null, expiresAt: null } as const;

const opened: WorkspaceEvent = { type: 'WorkspaceOpened', data: { workspaceId: 'ws_1', name: 'Atelier' } };
const key = (
  keyId: string,
  changes: Partial<ApiKeyTerms> = {},
  replaces: string | null = null,
): WorkspaceEvent => {
  const { scopes, networks, ...terms } = { ...TERMS, ...changes };
  const data = { keyId, hash: 'h', ...terms, scopes: [...scopes], networks: [...networks], replaces };
  return { type: 'ApiKeyIssued', data };
};
const issued = key('key00001');
const revoked: WorkspaceEvent = { type: 'ApiKeyRevoked', data: { keyId: 'key00001', reason: 'leaked' } };

const issue = {
  type: 'IssueApiKey' as const,
  keyId: 'key00001',
  hash: 'h',
  asked: TERMS,
  ordinaryScopes: ORDINARY,
  manager: OPERATOR,
  limit: 100,
  now: NOW,
} satisfies WorkspaceCommand;
const revoke = {
  type: 'RevokeApiKey' as const,
  keyId: 'key00001',
  reason: 'leaked',
  sees: MODES,
} satisfies WorkspaceCommand;
const rotate = {
  type: 'RotateApiKey' as const,
  keyId: 'key00002',
  hash: 'h',
  previous: 'key00001',
  overlapMs: 60_000,
  manager: OPERATOR,
  limit: 100,
  now: NOW,
} satisfies WorkspaceCommand;

describe('a workspace', () => {
  it('opens once', () => {
    const open: WorkspaceCommand = { type: 'OpenWorkspace', workspaceId: 'ws_1', name: 'Atelier' };
    given(workspaceDecider, []).when(open).then(opened);
    given(workspaceDecider, [opened]).when(open).thenIgnores('AlreadyOpen');
  });

  it('issues keys only while open, each id once', () => {
    given(workspaceDecider, []).when(issue).thenRejects('WorkspaceNotOpen', null);
    given(workspaceDecider, [opened]).when(issue).then(issued);
    given(workspaceDecider, [opened, issued]).when(issue).thenIgnores('AlreadyIssued');
  });

  it('issues keys with the ordinary scopes when none are asked for', () => {
    given(workspaceDecider, [opened])
      .when({ ...issue, asked: { ...ASKED, mode: 'test' } })
      .then(key('key00001', { mode: 'test', scopes: ORDINARY, networks: [] }));
  });

  it('keeps ten times as many with the expired ones; then some of them must be revoked first', () => {
    const expired = Array.from({ length: 20 }, (_, n) =>
      key(`old${n}`, { expiresAt: '2026-04-03T00:00:00.000Z' }),
    );
    const two = { ...issue, limit: 2 };
    given(workspaceDecider, [opened, ...expired])
      .when(two)
      .thenRejects('KeyLimitReached', { limit: 2 });
    const less: WorkspaceEvent = { type: 'ApiKeyRevoked', data: { keyId: 'old7', reason: 'requested' } };
    given(workspaceDecider, [opened, ...expired, less])
      .when(two)
      .then(issued);
  });

  it('counts the keys of each mode for themselves, so that test keys take no place of live ones', () => {
    const tested = Array.from({ length: 20 }, (_, n) => key(`test${n}`, { mode: 'test' }));
    const two = { ...issue, limit: 2 };
    given(workspaceDecider, [opened, ...tested])
      .when(two)
      .then(issued);
    given(workspaceDecider, [opened, ...tested])
      .when({ ...two, asked: { ...ASKED, mode: 'test' } })
      .thenRejects('KeyLimitReached', { limit: 2 });
  });

  it('issues no more keys than may be active at once; revoked and expired ones do not count', () => {
    const two = { ...issue, limit: 2 };
    const full = [opened, key('a'), key('b', { expiresAt: '2026-04-04T00:00:00.001Z' })];
    given(workspaceDecider, full).when(two).thenRejects('KeyLimitReached', { limit: 2 });
    given(workspaceDecider, full)
      .when({ ...two, now: two.now + 1 })
      .then(issued);
    const ended: WorkspaceEvent = { type: 'ApiKeyRevoked', data: { keyId: 'a', reason: null } };
    given(workspaceDecider, [...full, ended])
      .when(two)
      .then(issued);
    given(workspaceDecider, [opened, key('a'), key('b'), key('c')])
      .when({ ...revoke, keyId: 'a', reason: null })
      .then(ended);
  });

  it('revokes a key it issued, once, and never revives it', () => {
    given(workspaceDecider, [opened]).when(revoke).thenRejects('UnknownKey');
    given(workspaceDecider, [opened, issued]).when(revoke).then(revoked);
    given(workspaceDecider, [opened, issued, revoked]).when(revoke).thenIgnores('AlreadyRevoked');
    given(workspaceDecider, [opened, issued, revoked]).when(issue).thenIgnores('AlreadyIssued');
  });

  it('remembers the thousand keys that were revoked last, and no more', () => {
    const ended = (n: number): WorkspaceEvent[] => [
      key(`old${n}`),
      { type: 'ApiKeyRevoked', data: { keyId: `old${n}`, reason: null } },
    ];
    const events = [opened, ...Array.from({ length: 3_001 }, (_, n) => ended(n)).flat()];
    const again = (n: number) => given(workspaceDecider, events).when({ ...revoke, keyId: `old${n}` });
    again(3_000).thenIgnores('AlreadyRevoked');
    again(2_001).thenIgnores('AlreadyRevoked');
    again(2_000).thenRejects('UnknownKey');
  });

  it('revokes no key of a mode that the caller does not see, revoked or not', () => {
    const unseen = { ...revoke, sees: ['test'] as const };
    given(workspaceDecider, [opened, issued]).when(unseen).thenRejects('UnknownKey');
    given(workspaceDecider, [opened, issued, revoked]).when(unseen).thenRejects('UnknownKey');
    const seen = [opened, key('key00001', { mode: 'test' }), revoked];
    given(workspaceDecider, seen).when(unseen).thenIgnores('AlreadyRevoked');
  });
});

describe('a rotation', () => {
  const replacedAt = (expiresAt: string): WorkspaceEvent => ({
    type: 'ApiKeyReplaced',
    data: { keyId: 'key00001', replacedBy: 'key00002', expiresAt },
  });

  it('issues a key with the same terms, and ends the previous one after the overlap', () => {
    const terms = { label: 'shop', mode: 'test' as const, expiresAt: '2027-01-01T00:00:00.000Z' };
    given(workspaceDecider, [opened, key('key00001', terms)])
      .when(rotate)
      .then(replacedAt('2026-04-04T00:01:00.000Z'), key('key00002', terms, 'key00001'));
  });

  it('without overlap revokes the previous key', () => {
    given(workspaceDecider, [opened, issued])
      .when({ ...rotate, overlapMs: 0 })
      .then(
        { type: 'ApiKeyRevoked', data: { keyId: 'key00001', reason: 'rotated' } },
        key('key00002', {}, 'key00001'),
      );
  });

  it('never lets the previous key work longer than before', () => {
    const expiresAt = '2026-04-04T00:00:30.000Z';
    given(workspaceDecider, [opened, key('key00001', { expiresAt })])
      .when(rotate)
      .then(replacedAt(expiresAt), key('key00002', { expiresAt }, 'key00001'));
    const again = given(workspaceDecider, [opened, issued, key('key00003'), replacedAt(expiresAt)]);
    again.when(rotate).then(replacedAt(expiresAt), key('key00002', {}, 'key00001'));
  });

  it('needs an active key that the caller sees', () => {
    given(workspaceDecider, [opened]).when(rotate).thenRejects('UnknownKey');
    given(workspaceDecider, [opened, issued, revoked]).when(rotate).thenRejects('UnknownKey');
    const replaced = [opened, issued, key('key00003'), replacedAt('2026-04-04T00:00:00.000Z')];
    given(workspaceDecider, replaced).when(rotate).thenRejects('UnknownKey');
    given(workspaceDecider, [opened, issued])
      .when({ ...rotate, manager: { keyId: null, sees: ['test'] } })
      .thenRejects('UnknownKey');
    given(workspaceDecider, [opened, issued, key('key00002')])
      .when(rotate)
      .thenIgnores('AlreadyIssued');
  });

  it('counts both keys during the overlap; at the limit only one without overlap is possible', () => {
    const full = { ...rotate, limit: 1 };
    given(workspaceDecider, [opened, issued]).when(full).thenRejects('KeyLimitReached', { limit: 1 });
    given(workspaceDecider, [opened, issued])
      .when({ ...full, overlapMs: 0 })
      .thenTypes('ApiKeyRevoked', 'ApiKeyIssued');
  });
});

describe('a caller with a key', () => {
  const OWN: Partial<ApiKeyTerms> = {
    scopes: ['readings:read', 'erasure', 'keys:write'],
    networks: ['203.0.113.0/24'],
    expiresAt: '2026-06-01T00:00:00.000Z',
  };
  const manager: KeyManager = { keyId: 'own', sees: ['live'] };
  const by = { ...issue, manager };
  const workspace = given(workspaceDecider, [
    opened,
    key('own', OWN),
    key('key00009', { scopes: ['events:read'] }),
  ]);

  it('gives its networks and expiry, and the ordinary scopes that it has, when it asks for nothing else', () => {
    workspace.when({ ...by, asked: ASKED }).then(key('key00001', { ...OWN, scopes: ['readings:read'] }));
  });

  it.each<[string, Partial<ApiKeyTerms>, object]>([
    ['the other mode', { mode: 'test' }, { term: 'mode' }],
    [
      'a scope beyond its own',
      { scopes: ['readings:read', 'readings:write'] },
      { term: 'scopes', scope: 'readings:write' },
    ],
    ['the scope to manage keys', { scopes: ['keys:write'] }, { term: 'never', scope: 'keys:write' }],
    ['a wider network', { networks: ['203.0.0.0/16'] }, { term: 'networks' }],
    ['another network', { networks: ['203.0.113.0/25', '198.51.100.0/24'] }, { term: 'networks' }],
    ['everywhere', { networks: [] }, { term: 'networks' }],
    ['a later end', { expiresAt: '2026-06-01T00:00:00.001Z' }, { term: 'expiresAt' }],
  ])('does not give %s', (_, changes, beyond) => {
    const asked = { ...TERMS, expiresAt: '2026-06-01T00:00:00.000Z', ...changes };
    workspace.when({ ...by, asked }).thenRejects('BeyondCaller', beyond as never);
  });

  it('gives in a session no scope that the session does not have', () => {
    const session = { ...manager, scopes: ['readings:read', 'keys:write'] };
    const ask = (keyId: string | null, scope: string) =>
      workspace.when({
        ...by,
        manager: { ...session, keyId },
        asked: { ...TERMS, scopes: [scope], expiresAt: null },
      });
    for (const keyId of ['own', null])
      ask(keyId, 'erasure').thenRejects('BeyondCaller', { term: 'scopes', scope: 'erasure' });
    ask(null, 'readings:read').thenTypes('ApiKeyIssued');
  });

  it('gives and rotates in a session no key that manages keys or opens sessions', () => {
    const session: KeyManager = { keyId: null, sees: ['live'], scopes: API_KEY_SCOPES };
    for (const scope of ['keys:write', 'portal:write']) {
      const never = { term: 'never', scope } as const;
      workspace
        .when({
          ...by,
          manager: session,
          asked: { ...TERMS, scopes: ['credits:read', scope], expiresAt: null },
        })
        .thenRejects('BeyondCaller', never);
      given(workspaceDecider, [opened, key('key00001', { scopes: [scope] })])
        .when({ ...rotate, manager: session })
        .thenRejects('BeyondCaller', never);
    }
  });

  it('gives and rotates no key that shows what the caller hides from its session', () => {
    const hides = ['readings:read', 'events:read'];
    const session: KeyManager = { keyId: null, sees: ['live'], scopes: API_KEY_SCOPES, hides };
    const ask = (...scopes: string[]) =>
      workspace.when({ ...by, manager: session, asked: { ...TERMS, scopes, expiresAt: null } });
    ask('readings:read').thenRejects('BeyondCaller', { term: 'persons' });
    ask('credits:read', 'events:read').thenRejects('BeyondCaller', { term: 'persons' });
    ask('readings:write', 'credits:read').thenTypes('ApiKeyIssued');
    workspace
      .when({ ...rotate, manager: session, previous: 'key00009' })
      .thenRejects('BeyondCaller', { term: 'persons' });
  });

  it('gives nothing that outlives its own key, when that was rotated and works for the overlap alone', () => {
    const end = '2026-04-05T00:00:00.000Z';
    const rotated: WorkspaceEvent = {
      type: 'ApiKeyReplaced',
      data: { keyId: 'own', replacedBy: 'successor', expiresAt: end },
    };
    const overlapping = given(workspaceDecider, [
      opened,
      key('own', { ...OWN, expiresAt: null }),
      key('key00009', { scopes: ['readings:read'] }),
      rotated,
    ]);
    overlapping
      .when({ ...by, asked: ASKED })
      .then(key('key00001', { ...OWN, scopes: ['readings:read'], expiresAt: end }));
    overlapping
      .when({ ...by, asked: { ...ASKED, expiresAt: '2026-04-05T00:00:00.001Z' } })
      .thenRejects('BeyondCaller', { term: 'expiresAt' });
    overlapping
      .when({ ...rotate, manager, previous: 'key00009' })
      .thenRejects('BeyondCaller', { term: 'expiresAt' });
  });

  it('gives nothing once its key has ended, even while a process still trusts it', () => {
    const ended: WorkspaceEvent = { type: 'ApiKeyRevoked', data: { keyId: 'own', reason: null } };
    given(workspaceDecider, [opened, key('own', OWN), ended])
      .when(by)
      .thenRejects('OwnKeyEnded');
    const late = Date.parse('2026-06-01T00:00:00.000Z');
    workspace.when({ ...by, now: late }).thenRejects('OwnKeyEnded');
    expect(workspace.state.standing.has('own')).toBe(true);
  });
});

it('The choices of a workspace are its own once it is open; the same choice again changes nothing', () => {
  const choose = (choices: Choices): WorkspaceCommand => ({ type: 'Choose', ...choices });
  const chosen: WorkspaceEvent = { type: 'PaperChosen', data: { paper: 'us-letter' } };
  const told = (externalId: boolean, lowCreditsPercent: number): WorkspaceEvent => ({
    type: 'WebhookContentChosen',
    data: { externalId, lowCreditsPercent },
  });
  given(workspaceDecider, [])
    .when(choose({ paper: 'a4' }))
    .thenRejects('WorkspaceNotOpen', null);
  const open = given(workspaceDecider, [opened]);
  open.when(choose({ paper: 'us-letter' })).then(chosen);
  open.when(choose({ paper: 'by-locale' })).thenIgnores('Unchanged');
  open.when(choose({ externalId: false })).then(told(false, 10));
  const later = given(workspaceDecider, [opened, chosen, told(false, 10)]);
  later.when(choose({ paper: 'us-letter', externalId: false })).thenIgnores('Unchanged');
  later.when(choose({ lowCreditsPercent: 25 })).then(told(false, 25));
});
