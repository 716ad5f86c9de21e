import { beforeEach, describe, expect, it } from '@jest/globals';
import { ClockUntrusted } from '#event-sourcing/core/trusted-clock.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { BY, WS, billingProcess } from '../../test/billing-process.js';
import type { CreditsEvent } from '../contracts/events.js';
import { violations } from '../domain/credits/invariants.js';

const DAY_MS = 86_400_000;
let now: number;
let store: InMemoryEventStore;
let isTrusted: boolean;

/** One process of several, with a clock that may be off. */
const openProcess = (skewMs = 0) => {
  const clock = () => {
    if (!isTrusted) throw new ClockUntrusted('the clocks differ');
    return now + skewMs;
  };
  const process = billingProcess(store, { now: clock });
  return {
    reserve: (id: string) => process.reserve(id, 'theme', false),
    settle: (id: string, how: 'capture' | 'release') => process.settle(id, how, false),
    credits: () => process.credits(false),
  };
};
const types = () => store.log.map(({ type }) => type);
const ids = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);

beforeEach(() => {
  now = Date.parse('2026-04-10T12:00:00.000Z');
  store = new InMemoryEventStore();
  isTrusted = true;
});

describe('the test credits of a workspace', () => {
  it('are filled in once, although three processes race for the first use of a day', async () => {
    const processes = [openProcess(), openProcess(), openProcess()];
    for (const day of [1, 2]) {
      const results = await Promise.all(
        ids(30).map((id, index) => processes[index % 3]!.reserve(`${day}${id}`)),
      );
      expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'reserved'));
      for (const id of ids(10)) await processes[0]!.settle(`${day}${id}`, 'capture');
      now += DAY_MS;
    }
    expect(types().filter((type) => type === 'CreditsAdjusted')).toHaveLength(2);
    expect(violations(store.log as unknown as readonly CreditsEvent[])).toEqual([]);
    expect(new Set(store.log.map(({ stream }) => stream))).toEqual(new Set([`testbook-${WS}`]));
  });

  it('are filled in once at midnight, although the clocks of two processes are on two days', async () => {
    const [early, late] = [openProcess(-5_000), openProcess(5_000)];
    await early.reserve('r1');
    now = Date.parse('2026-04-11T00:00:00.000Z');
    for (const id of ['r2', 'r4', 'r6']) {
      await late.reserve(id);
      await early.reserve(`${id}'`);
    }
    expect(types().filter((type) => type === 'CreditsAdjusted')).toHaveLength(2);
  });

  it('run out at 10,000 on one day', async () => {
    const process = openProcess();
    const results = await Promise.all(ids(501).map((id) => process.reserve(id)));
    expect(results.filter(({ outcome }) => outcome === 'reserved')).toHaveLength(500);
    expect(results.at(-1)).toEqual({ outcome: 'insufficient', required: 20, available: 0 });
    expect(await process.credits()).toEqual({ available: 0, reserved: 10_000, grants: [] });
    await Promise.all(ids(500).map((id) => process.settle(id, 'capture')));
    now += DAY_MS;
    expect(await process.credits()).toMatchObject({ available: 10_000, reserved: 0 });
    expect(await process.reserve('next')).toEqual({ outcome: 'reserved', amount: 20 });
  });

  it('need no live book', async () => {
    const process = openProcess();
    expect(await process.reserve('r1')).toEqual({ outcome: 'reserved', amount: 20 });
    expect(await process.settle('r1', 'release')).toEqual({ outcome: 'settled' });
    expect(await process.settle('r1', 'release')).toEqual({ outcome: 'already_settled' });
    expect(await process.reserve('r1')).toEqual({ outcome: 'settled' });
    expect(await process.settle('r9', 'capture')).toEqual({ outcome: 'unknown' });
  });

  it('are not moved while the clocks differ, and are shown as they were recorded', async () => {
    const process = openProcess();
    await process.reserve('r1');
    const before = types();
    now += DAY_MS;
    isTrusted = false;
    await expect(process.reserve('r2')).rejects.toThrow(ClockUntrusted);
    await expect(process.settle('r1', 'capture')).rejects.toThrow(ClockUntrusted);
    expect(types()).toEqual(before);
    expect(await process.credits()).toMatchObject({ available: 9_980, reserved: 20 });
  });

  it('are 10,000 before their first use, also while the clocks differ', async () => {
    isTrusted = false;
    expect(await openProcess().credits()).toMatchObject({ available: 10_000, reserved: 0 });
  });

  it('are chained: each entry fits the one before, and names who asked for it', async () => {
    const process = openProcess();
    await process.reserve('r1');
    expect(types()).toEqual(['BookOpened', 'CreditsAdjusted', 'CreditsReserved']);
    for (const { metadata } of store.log) expect(metadata.chain).toMatch(/^[0-9a-f]{64}$/);
    expect(store.log[2]!.metadata).toMatchObject({ actor: BY.actor, workspaceId: WS });
  });
});
