import { expect, it } from '@jest/globals';
import { h } from 'preact';
import type { WebhookEndpoint } from '@reading-service/client';
import { rendered, shown, visitTo } from '../../testing/show.js';
import { TEXTS } from '../../texts/texts.js';
import { editEndpointPage, endpointsPage, secretPage } from './endpoints.js';
import { NextAttempt, oneEndpointPage, replayPage } from './endpoint.js';

const { deliveries, states, never } = TEXTS.en;
const URL_OF_ONE = 'https://shop.example/hooks';

const visit = (health: object) => {
  const one = {
    ...{ endpointId: 'we_1', url: URL_OF_ONE, description: null, enabled: false, events: [], notices: [] },
    ...{
      modes: ['live'],
      headerNames: ['x-shop'],
      maxPerSecond: null,
      secretHint: 'ab',
      createdAt: '2026-03-04T05:06:00.000Z',
    },
    health: { failingSince: null, consecutiveFailures: 0, ...health },
  };
  const get = (path: string): unknown => {
    if (path === '/webhooks') return { data: [one], nextCursor: null };
    return path.includes('/stats')
      ? { until: '2026-03-04T05:00:00.000Z', hours: [] }
      : path.includes('/deliveries')
        ? { data: [], nextCursor: null }
        : one;
  };
  const made = visitTo({ get, query: () => null, params: { endpointId: 'we_1' } });
  return { ...made, api: Object.assign(made.api, { tagged: async () => ({ found: one, etag: '"1"' }) }) };
};

it.each([
  ['paused', { state: 'disabled', disabledReason: 'requested' }],
  ['disabled', { state: 'disabled', disabledReason: 'gone' }],
  ['failing', { state: 'failing', disabledReason: null }],
] as const)('is %s in its list and on its page', async (state, health) => {
  for (const page of [endpointsPage, oneEndpointPage]) {
    const html = await shown(page, visit(health));
    expect(html).toMatch(new RegExp(`class="state \\w+">${states[state]}<`, 'u'));
  }
  expect(await shown(oneEndpointPage, visit(health))).toContain(never);
});

it('is named by every page that changes it', async () => {
  for (const page of [editEndpointPage, secretPage, replayPage]) {
    const html = await shown(page, visit({ state: 'ok', disabledReason: null }));
    expect(html).toContain(`<a href="/portal/webhooks/we_1">${URL_OF_ONE}</a>`);
  }
});

const HOUR_MS = 3_600_000;

const said = (inMs: number, state: string): string => {
  const at = new Date(Date.now() + inMs).toISOString();
  return rendered(visitTo({}), h(NextAttempt, { at, of: { health: { state } } as WebhookEndpoint }));
};

it('says what an attempt waits for whose time has passed', () => {
  expect(said(-HOUR_MS, 'ok')).toContain(deliveries.inTurn);
  expect(said(-HOUR_MS, 'unverified')).toContain(deliveries.afterProbe);
  expect(said(HOUR_MS, 'ok')).toContain('<time');
});
