import { describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { WebhookEndpointEvent } from '../contracts/events.js';
import { type WebhookEndpointCommand, webhookEndpoint } from './webhook-endpoint.decider.js';

const ref = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;
const settings = {
  url: 'https://receiver.example/hook',
  events: ['reading.completed' as const],
  modes: ['live' as const],
  notices: [],
  description: null,
  headersRef: null,
  maxPerSecond: null,
  verified: true,
};
const created: WebhookEndpointEvent = {
  type: 'WebhookEndpointCreated',
  data: { workspaceId: 'ws_1', ...settings, secretRef: ref(1) },
};
const disabled: WebhookEndpointEvent = { type: 'WebhookEndpointDisabled', data: { reason: 'failing' } };
const deleted: WebhookEndpointEvent = { type: 'WebhookEndpointDeleted', data: {} };
const rotated = (n: number, previousValidUntil: string): WebhookEndpointEvent => ({
  type: 'WebhookEndpointSecretRotated',
  data: { secretRef: ref(n), previousValidUntil },
});
const create: WebhookEndpointCommand = {
  type: 'CreateEndpoint',
  workspaceId: 'ws_1',
  ...settings,
  secretRef: ref(1),
};
const change = (
  changes: (WebhookEndpointCommand & { type: 'ChangeEndpoint' })['changes'],
  ifRevision: readonly bigint[] | null = null,
): WebhookEndpointCommand => ({ type: 'ChangeEndpoint', sees: ['live'], changes, ifRevision });

describe('A webhook endpoint', () => {
  it('is changed by those alone who see its modes as they are when the change is decided', () => {
    const modes = ['live' as const, 'test' as const];
    const widened: WebhookEndpointEvent = { type: 'WebhookEndpointUpdated', data: { ...settings, modes } };
    for (const command of [
      { type: 'ChangeEndpoint', changes: { url: 'https://else.example' }, ifRevision: null },
      { type: 'RotateSecret', secretRef: ref(2), at: 0, overlapSeconds: 0 },
      { type: 'DeleteEndpoint', ifRevision: null },
    ] as const) {
      const by = (sees: (typeof modes)[number]): WebhookEndpointCommand => ({ ...command, sees: [sees] });
      given(webhookEndpoint, [created, widened]).when(by('test')).thenRejects('ModeNotAllowed');
      given(webhookEndpoint, [created]).when(by('test')).thenRejects('EndpointNotFound');
    }
  });

  it('is created once', () => {
    given(webhookEndpoint, []).when(create).then(created);
    given(webhookEndpoint, [created]).when(create).thenIgnores('AlreadyCreated');
  });

  it('records all its settings when one changes', () => {
    given(webhookEndpoint, [created])
      .when(change({ description: 'production' }))
      .then({ type: 'WebhookEndpointUpdated', data: { ...settings, description: 'production' } });
  });

  it('records nothing when nothing changes', () => {
    given(webhookEndpoint, [created]).when(change({})).thenIgnores('NothingChanges');
    given(webhookEndpoint, [created])
      .when(change({ ...settings, enabled: true }))
      .thenIgnores('NothingChanges');
  });

  it('distinguishes a change of settings from being disabled and enabled', () => {
    given(webhookEndpoint, [created])
      .when(change({ url: 'https://other.example/', enabled: false }))
      .thenTypes('WebhookEndpointUpdated', 'WebhookEndpointDisabled');
    given(webhookEndpoint, [created, disabled])
      .when(change({ enabled: true }))
      .then({ type: 'WebhookEndpointEnabled', data: {} });
  });

  it('changes only at a revision the caller has seen, when one is named', () => {
    given(webhookEndpoint, [created])
      .when(change({ enabled: false }, [0n]))
      .thenTypes('WebhookEndpointDisabled');
    given(webhookEndpoint, [created, disabled])
      .when(change({ enabled: true }, [0n]))
      .thenRejects('RevisionMismatch');
  });

  it('is disabled once, whatever the reason', () => {
    given(webhookEndpoint, [created])
      .when({ type: 'DisableEndpoint', reason: 'gone', url: settings.url })
      .thenTypes('WebhookEndpointDisabled');
    given(webhookEndpoint, [created, disabled])
      .when({ type: 'DisableEndpoint', reason: 'gone', url: settings.url })
      .thenIgnores('AlreadyDisabled');
  });

  it('is not disabled for failures of an earlier URL', () => {
    const moved = 'https://moved.example/hook';
    const updated: WebhookEndpointEvent = {
      type: 'WebhookEndpointUpdated',
      data: { ...settings, url: moved },
    };
    given(webhookEndpoint, [created, updated])
      .when({ type: 'DisableEndpoint', reason: 'gone', url: settings.url })
      .thenIgnores('MovedMeanwhile');
    given(webhookEndpoint, [created, updated])
      .when({ type: 'DisableEndpoint', reason: 'gone', url: moved })
      .thenTypes('WebhookEndpointDisabled');
  });

  it('records that its receiver answered a probe, once, and of the present URL', () => {
    const unverified = { ...settings, verified: false };
    const asked: WebhookEndpointEvent = {
      type: 'WebhookEndpointCreated',
      data: { workspaceId: 'ws_1', ...unverified, secretRef: ref(1) },
    };
    const verify = (url: string): WebhookEndpointCommand => ({ type: 'VerifyEndpoint', url });
    const verified: WebhookEndpointEvent = { type: 'WebhookEndpointVerified', data: { url: settings.url } };
    given(webhookEndpoint, [asked]).when(verify(settings.url)).then(verified);
    given(webhookEndpoint, [asked, verified]).when(verify(settings.url)).thenIgnores('AlreadyVerified');
    given(webhookEndpoint, [asked]).when(verify('https://moved.example/hook')).thenIgnores('MovedMeanwhile');
    expect(given(webhookEndpoint, [asked, verified]).state.verified).toBe(true);
  });

  it('is verified at another URL only if the change says so, and never un-verified at its own', () => {
    const moved = { url: 'https://moved.example/hook' };
    const updated = (changes: Partial<typeof settings>): WebhookEndpointEvent => ({
      type: 'WebhookEndpointUpdated',
      data: { ...settings, ...changes },
    });
    const endpoint = given(webhookEndpoint, [created]);
    endpoint.when(change(moved)).then(updated({ ...moved, verified: false }));
    endpoint.when(change({ ...moved, verified: false })).then(updated({ ...moved, verified: false }));
    endpoint.when(change({ ...moved, verified: true })).then(updated({ ...moved, verified: true }));
    endpoint.when(change({ url: settings.url, verified: false })).thenIgnores('NothingChanges');
  });

  it('ends the overlap of a rotation at an instant fixed by the rotation', () => {
    given(webhookEndpoint, [created])
      .when({
        type: 'RotateSecret',
        sees: ['live'],
        secretRef: ref(2),
        at: Date.parse('2026-04-04T00:00:00Z'),
        overlapSeconds: 3_600,
      })
      .then(rotated(2, '2026-04-04T01:00:00.000Z'));
  });

  it('rotates to the same secret once', () => {
    given(webhookEndpoint, [created, rotated(2, '2026-04-04T01:00:00.000Z')])
      .when({ type: 'RotateSecret', sees: ['live'], secretRef: ref(2), at: 0, overlapSeconds: 60 })
      .thenIgnores('AlreadyRotated');
  });

  it('keeps at most two old secrets, newest first', () => {
    const ends = [5, 6, 7].map((day) => `2026-04-0${day}T00:00:00.000Z`) as [string, string, string];
    const { state } = given(webhookEndpoint, [created, ...ends.map((end, index) => rotated(index + 2, end))]);
    expect(state.secrets).toEqual([
      { ref: ref(4), validUntil: null },
      { ref: ref(3), validUntil: ends[2] },
      { ref: ref(2), validUntil: ends[1] },
    ]);
  });

  it('does not let an expired secret displace one that is still valid', () => {
    const [promised, ended] = ['2026-04-11T00:00:00.000Z', '2026-04-04T00:00:00.000Z'];
    const { state } = given(webhookEndpoint, [
      created,
      rotated(2, promised),
      rotated(3, ended),
      rotated(4, '2026-04-04T00:00:01.000Z'),
    ]);
    expect(state.secrets).toEqual([
      { ref: ref(4), validUntil: null },
      { ref: ref(3), validUntil: '2026-04-04T00:00:01.000Z' },
      { ref: ref(1), validUntil: promised },
    ]);
  });

  it('stays deleted', () => {
    given(webhookEndpoint, [created])
      .when({ type: 'DeleteEndpoint', sees: ['live'], ifRevision: null })
      .then(deleted);
    given(webhookEndpoint, [created, deleted]).when(change({})).thenRejects('EndpointNotFound');
    given(webhookEndpoint, []).when(change({})).thenRejects('EndpointNotFound');
    given(webhookEndpoint, [created, deleted]).when(create).thenIgnores('AlreadyCreated');
  });
});
