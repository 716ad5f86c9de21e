import { describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { WebhookEndpointEvent } from '../contracts/index.js';
import {
  type EndpointChanges,
  type WebhookEndpointCommand,
  webhookEndpoint,
} from './webhook-endpoint.decider.js';

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
const rotated = (n: number, previousValidUntil: string): WebhookEndpointEvent => ({
  type: 'WebhookEndpointSecretRotated',
  data: { secretRef: ref(n), previousValidUntil },
});
const change = (changes: EndpointChanges): WebhookEndpointCommand => ({
  type: 'ChangeEndpoint',
  sees: ['live'],
  changes,
  ifRevision: null,
});

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
});
