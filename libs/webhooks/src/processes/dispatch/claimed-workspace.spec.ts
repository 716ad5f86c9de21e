import { describe, expect, it } from '@jest/globals';
import type { DueDelivery } from './due-deliveries.js';
import type { LaneEndpoint } from './workspace-queues.js';
import { Turn, type Moment } from './claimed-workspace.js';

const NOW = Date.parse('2026-04-04T09:30:00Z');
const after = (elapsed: number): Moment => ({ elapsed, now: NOW + elapsed });

const endpoint = (endpointId: string, changes: Partial<LaneEndpoint> = {}): LaneEndpoint => ({
  endpointId,
  url: 'https://receiver.example/',
  secrets: [],
  consecutiveFailures: 0,
  probeAt: null,
  flying: 0,
  ...changes,
});
const turnOf = (...endpoints: readonly LaneEndpoint[]): Turn =>
  new Turn(
    { workspaceId: 'ws_1', lease: 'lease', endpoints },
    { perEndpoint: 3, perWorkspace: 4, leaseMs: 25_000 },
    0,
  );
const due = (deliveryId: string, replayed = false): DueDelivery => ({
  deliveryId,
  replayed,
  redelivery: false,
  attempt: 1,
  eventId: 'evt_1',
  type: 'reading.completed',
  body: '{}',
  test: false,
});
/** Gives the endpoint that is at this place what a look found. */
const find = (turn: Turn, place: number, ...found: readonly DueDelivery[]): void => {
  const at = turn.endpoints[place]!;
  at.wanted();
  at.add({ endpointId: at.endpoint.endpointId, due: found, hasMore: false, dueFrom: '', replayedFrom: '' });
};
const sendAll = (turn: Turn, moment = after(0)): readonly string[] => {
  const next = turn.take(moment);
  return next ? [next.delivery.deliveryId, ...sendAll(turn, moment)] : [];
};

describe('A turn', () => {
  it('sends one to each endpoint before a second to any, within both limits', () => {
    const turn = turnOf(endpoint('we_a'), endpoint('we_b'));
    find(turn, 0, due('a1'), due('a2'), due('a3'), due('a4'));
    find(turn, 1, due('b1'));
    expect(sendAll(turn)).toEqual(['a1', 'b1', 'a2', 'a3']);
    turn.landed(turn.endpoints[1]!);
    expect(sendAll(turn)).toEqual([]);
    turn.landed(turn.endpoints[0]!);
    expect(sendAll(turn)).toEqual(['a4']);
  });

  it('counts what is in flight from earlier turns', () => {
    const turn = turnOf(endpoint('we_a', { flying: 2 }), endpoint('we_b', { flying: 1 }));
    find(turn, 0, due('a1'), due('a2'));
    find(turn, 1, due('b1'), due('b2'));
    expect(sendAll(turn)).toEqual(['a1']);
  });

  it('sends what is new before what is replayed, also when that was found first', () => {
    const turn = turnOf(endpoint('we_a'));
    find(turn, 0, due('old', true));
    find(turn, 0, due('new'));
    expect(sendAll(turn)).toEqual(['new', 'old']);
  });

  it('sends one at a time to an endpoint that keeps failing, when its probe is due', () => {
    const failing = { consecutiveFailures: 10, probeAt: NOW + 500 };
    const turn = turnOf(endpoint('we_a', failing));
    find(turn, 0, due('a1'), due('a2'));
    expect(sendAll(turn, after(499))).toEqual([]);
    expect(sendAll(turn, after(500))).toEqual(['a1']);
  });

  it('knows what it sent and did not record, so that it is not read again', () => {
    const turn = turnOf(endpoint('we_a'));
    find(turn, 0, due('a1'), due('a2'));
    turn.take(after(0));
    turn.landed(turn.endpoints[0]!);
    expect(turn.endpoints[0]!.wanted().known).toEqual(['a2', 'a1']);
    turn.endpoints[0]!.settled('a1');
    expect(turn.endpoints[0]!.wanted().known).toEqual(['a2']);
  });

  it('ends when nothing is left to do', () => {
    const turn = turnOf(endpoint('we_a'));
    expect(turn.hasEnded(after(0))).toBe(false);
    find(turn, 0, due('a1'));
    sendAll(turn);
    expect(turn.hasEnded(after(0))).toBe(false);
    turn.landed(turn.endpoints[0]!);
    expect(turn.hasEnded(after(0))).toBe(true);
    turn.endpoints[0]!.lookAgain();
    expect(turn.hasEnded(after(0))).toBe(false);
  });

  it('ends after a second and what is in flight outlasts it, but never what is being recorded', () => {
    const turn = turnOf(endpoint('we_a'));
    find(turn, 0, due('a1'), due('a2'), due('a3'), due('a4'));
    expect(sendAll(turn)).toEqual(['a1', 'a2', 'a3']);
    turn.landed(turn.endpoints[0]!);
    expect(sendAll(turn, after(1_000))).toEqual([]);
    expect(turn.wanting(after(1_000))).toEqual([]);
    expect(turn.hasEnded(after(1_099))).toBe(false);
    turn.recording = 1;
    expect(turn.hasEnded(after(1_100))).toBe(false);
    turn.recording = 0;
    turn.endpoints[0]!.settled('a1');
    expect(turn.hasEnded(after(1_100))).toBe(true);
    expect(turn.stragglers).toEqual([
      { deliveryId: 'a2', attempts: 0 },
      { deliveryId: 'a3', attempts: 0 },
    ]);
  });

  it('leaves the workspace alone for a while when it could send nothing', () => {
    const full = turnOf(endpoint('we_a', { flying: 3 }));
    expect(full.hasEnded(after(0))).toBe(true);
    expect(full.pauseMs).toBeGreaterThan(0);
    const busy = turnOf(endpoint('we_a'));
    find(busy, 0, due('a1'));
    sendAll(busy);
    expect(busy.pauseMs).toBe(0);
  });
});
