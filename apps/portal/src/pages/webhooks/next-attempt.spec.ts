import { expect, it } from '@jest/globals';
import { h } from 'preact';
import type { WebhookEndpoint } from '@reading-service/client';
import { rendered, visitTo } from '../../testing/show.js';
import { TEXTS } from '../../texts/texts.js';
import { NextAttempt } from './next-attempt.js';

const { deliveries, noDate } = TEXTS.en;
const HOUR_MS = 3_600_000;

const said = (inMs: number | null, state: string): string => {
  const at = inMs === null ? null : new Date(Date.now() + inMs).toISOString();
  return rendered(visitTo({}), h(NextAttempt, { at, of: { health: { state } } as WebhookEndpoint }));
};

it('shows the time of an attempt to come', () => {
  for (const state of ['ok', 'unverified']) {
    const text = said(HOUR_MS, state);
    expect(text).toContain('<time');
    expect(text).not.toContain(deliveries.inTurn);
  }
});

it('says what an attempt waits for whose time has passed', () => {
  expect(said(-HOUR_MS, 'ok')).toContain(deliveries.inTurn);
  expect(said(-HOUR_MS, 'unverified')).toContain(deliveries.afterProbe);
  for (const state of ['ok', 'unverified']) expect(said(-HOUR_MS, state)).not.toContain('<time');
});

it('says so when nothing is to come', () => {
  expect(said(null, 'unverified')).toContain(noDate);
});
