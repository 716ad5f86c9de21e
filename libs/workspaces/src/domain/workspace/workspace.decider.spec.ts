import { describe, it } from '@jest/globals';
import { given } from '@app/event-sourcing/testing/decider-spec.js';
import type { WorkspaceEvent } from '../../contracts/events.js';
import type { WorkspaceCommand } from './workspace.commands.js';
import { workspaceDecider } from './workspace.decider.js';

const TERMS = {
  label: null,
  mode: 'test' as const,
  scopes: ['readings:read'],
  networks: ['203.0.113.0/24'],
  expiresAt: null,
};
const opened: WorkspaceEvent = { type: 'WorkspaceOpened', data: { workspaceId: 'ws_1', name: 'Atelier' } };
const issued: WorkspaceEvent = {
  type: 'ApiKeyIssued',
  data: { keyId: 'key00001', hash: 'h', ...TERMS, replaces: null },
};
const revoked: WorkspaceEvent = { type: 'ApiKeyRevoked', data: { keyId: 'key00001', reason: 'leaked' } };
const issue = {
  type: 'IssueApiKey' as const,
  keyId: 'key00001',
  hash: 'h',
  terms: TERMS,
  limit: 100,
  now: Date.parse('2026-04-04T00:00:00Z'),
} satisfies WorkspaceCommand;
const revoke: WorkspaceCommand = { type: 'RevokeApiKey', keyId: 'key00001', reason: 'leaked' };

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

  it('issues no more keys than may be active at once; revoked and expired ones do not count', () => {
    const key = (keyId: string, expiresAt: string | null = null): WorkspaceEvent => ({
      type: 'ApiKeyIssued',
      data: { keyId, hash: 'h', ...TERMS, expiresAt, replaces: null },
    });
    const two = { ...issue, limit: 2 };
    const full = [opened, key('a'), key('b', '2026-04-04T00:00:00.001Z')];
    given(workspaceDecider, full).when(two).thenRejects('KeyLimitReached', { limit: 2 });
    given(workspaceDecider, full)
      .when({ ...two, now: two.now + 1 })
      .then(issued);
    const ended: WorkspaceEvent = { type: 'ApiKeyRevoked', data: { keyId: 'a', reason: null } };
    given(workspaceDecider, [...full, ended])
      .when(two)
      .then(issued);
    given(workspaceDecider, [opened, key('a'), key('b'), key('c')])
      .when({ type: 'RevokeApiKey', keyId: 'a', reason: null })
      .then(ended);
  });

  it('revokes a key it issued, once, and never revives it', () => {
    given(workspaceDecider, [opened]).when(revoke).thenRejects('UnknownKey', { keyId: 'key00001' });
    given(workspaceDecider, [opened, issued]).when(revoke).then(revoked);
    given(workspaceDecider, [opened, issued, revoked]).when(revoke).thenIgnores('AlreadyRevoked');
    given(workspaceDecider, [opened, issued, revoked]).when(issue).thenIgnores('AlreadyIssued');
  });
});
