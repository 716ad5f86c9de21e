import { describe, expect, it } from '@jest/globals';
import { Places, UNPROVEN_MS } from '../../domain/delivery/places.js';
import type { DueDelivery } from './due-deliveries.js';
import { ClaimedWorkspace, type Moment } from './claimed-workspace.js';
import type { EndpointSnapshot } from './workspace-queues.js';

const NOW = Date.parse('2026-04-04T09:30:00Z');
const after = (elapsed: number): Moment => ({ elapsed, now: NOW + elapsed });

const endpoint = (endpointId: string, changes: Partial<EndpointSnapshot> = {}): EndpointSnapshot => ({
  endpointId,
  url: 'https://receiver.example/',
  secrets: [],
  consecutiveFailures: 0,
  probeAt: null,
  detached: 0,
  headersRef: null,
  maxPerSecond: null,
  pacedUntil: null,
  ...changes,
});
const claimWith = (places: Places, ...endpoints: readonly EndpointSnapshot[]): ClaimedWorkspace =>
  new ClaimedWorkspace(
    { workspaceId: 'ws_1', lease: 'lease', endpoints },
    { perEndpoint: 3, perWorkspace: 4, leaseMs: 25_000 },
    places,
    0,
  );
/** By a worker that knows the endpoints for prompt ones. */
const claim = (...endpoints: readonly EndpointSnapshot[]): ClaimedWorkspace => {
  const places = new Places();
  for (const { endpointId } of endpoints)
    for (let n = 0; n < 3; n += 1) places.end(places.start(places.meet(endpointId, 'ws_1', 0), -1), -1, true);
  return claimWith(places, ...endpoints);
};
const due = (deliveryId: string, replayed = false): DueDelivery => ({
  deliveryId,
  replayed,
  redelivery: false,
  attempt: 1,
  eventId: 'evt_1',
  type: 'reading.completed',
  readingId: 'r1',
  requestId: null,
  body: '{}',
  showsExternalId: false,
  livemode: true,
  test: false,
});
/** Reads these deliveries for the endpoint at this index. */
const read = (workspace: ClaimedWorkspace, index: number, ...batch: readonly DueDelivery[]): void => {
  const at = workspace.endpoints[index]!;
  at.startRead();
  at.addBatch({
    endpointId: at.endpoint.endpointId,
    due: batch,
    hasMore: false,
    dueFrom: '',
    replayedFrom: '',
  });
};
const sendAll = (workspace: ClaimedWorkspace, moment = after(0)): readonly string[] => {
  const next = workspace.startNext(moment);
  return next ? [next.delivery.deliveryId, ...sendAll(workspace, moment)] : [];
};

describe('A claimed workspace', () => {
  it('sends one to each endpoint before a second to any, within both limits', () => {
    const workspace = claim(endpoint('we_a'), endpoint('we_b'));
    read(workspace, 0, due('a1'), due('a2'), due('a3'), due('a4'));
    read(workspace, 1, due('b1'));
    expect(sendAll(workspace)).toEqual(['a1', 'b1', 'a2', 'a3']);
    workspace.exchangeEnded(workspace.endpoints[1]!);
    expect(sendAll(workspace)).toEqual([]);
    workspace.exchangeEnded(workspace.endpoints[0]!);
    expect(sendAll(workspace)).toEqual(['a4']);
  });

  it('counts detached deliveries as in flight', () => {
    const workspace = claim(endpoint('we_a', { detached: 2 }), endpoint('we_b', { detached: 1 }));
    read(workspace, 0, due('a1'), due('a2'));
    read(workspace, 1, due('b1'), due('b2'));
    expect(sendAll(workspace)).toEqual(['a1']);
  });

  it('sends new events before replayed ones, also when those were read first', () => {
    const workspace = claim(endpoint('we_a'));
    read(workspace, 0, due('old', true));
    read(workspace, 0, due('new'));
    expect(sendAll(workspace)).toEqual(['new', 'old']);
  });

  it('sends one delivery at a time to an endpoint that keeps failing, when its probe is due', () => {
    const failing = { consecutiveFailures: 10, probeAt: NOW + 500 };
    const workspace = claim(endpoint('we_a', failing));
    read(workspace, 0, due('a1'), due('a2'));
    expect(sendAll(workspace, after(499))).toEqual([]);
    expect(sendAll(workspace, after(500))).toEqual(['a1']);
  });

  it('sends an unknown endpoint one delivery at first, and tells that it rests until that ends', () => {
    const workspace = claimWith(new Places(), endpoint('we_a'));
    read(workspace, 0, due('a1'), due('a2'));
    expect(sendAll(workspace)).toEqual(['a1']);
    workspace.finish(after(0));
    expect(workspace.rests).toEqual([{ endpointId: 'we_a', restMs: 0 }]);
  });

  it('serves the endpoint first that has waited longest, over all claims', () => {
    const places = new Places();
    const first = claimWith(places, endpoint('we_a'), endpoint('we_b'));
    read(first, 0, due('a1'));
    expect(sendAll(first)).toEqual(['a1']);
    expect(
      claimWith(places, endpoint('we_a'), endpoint('we_b')).endpoints.map((one) => one.endpoint.endpointId),
    ).toEqual(['we_b', 'we_a']);
  });

  it('can be released when its endpoint has no place, and asks again after a rest', () => {
    const places = new Places();
    const isHeld = Array.from({ length: 64 }, (_, n) => places.meet(`we_${n}`, `ws_held_${n}`, 1));
    for (const known of isHeld) places.start(known, 0);
    const workspace = claimWith(places, endpoint('we_a', { consecutiveFailures: 1 }));
    read(workspace, 0, due('a1'));
    expect(sendAll(workspace)).toEqual([]);
    expect(workspace.isReleasable(after(0))).toBe(true);
    workspace.finish(after(0));
    expect(workspace.rests).toEqual([{ endpointId: 'we_a', restMs: UNPROVEN_MS }]);
  });

  it('does not read again what it sent and has not recorded', () => {
    const workspace = claim(endpoint('we_a'));
    read(workspace, 0, due('a1'), due('a2'));
    workspace.startNext(after(0));
    workspace.exchangeEnded(workspace.endpoints[0]!);
    expect(workspace.endpoints[0]!.startRead().known).toEqual(['a2', 'a1']);
    workspace.endpoints[0]!.settled('a1');
    expect(workspace.endpoints[0]!.startRead().known).toEqual(['a2']);
  });

  it('can be released when nothing is left to do', () => {
    const workspace = claim(endpoint('we_a'));
    expect(workspace.isReleasable(after(0))).toBe(false);
    read(workspace, 0, due('a1'));
    sendAll(workspace);
    expect(workspace.isReleasable(after(0))).toBe(false);
    workspace.exchangeEnded(workspace.endpoints[0]!);
    expect(workspace.isReleasable(after(0))).toBe(true);
    workspace.endpoints[0]!.readAgain();
    expect(workspace.isReleasable(after(0))).toBe(false);
  });

  it('can be released after its time slice: detaches what is in flight, but waits for what is being recorded', () => {
    const workspace = claim(endpoint('we_a'));
    read(workspace, 0, due('a1'), due('a2'), due('a3'), due('a4'));
    expect(sendAll(workspace)).toEqual(['a1', 'a2', 'a3']);
    workspace.exchangeEnded(workspace.endpoints[0]!);
    expect(sendAll(workspace, after(1_000))).toEqual([]);
    expect(workspace.endpointsToRead(after(1_000))).toEqual([]);
    expect(workspace.isReleasable(after(1_099))).toBe(false);
    workspace.recording = 1;
    expect(workspace.isReleasable(after(1_100))).toBe(false);
    workspace.recording = 0;
    workspace.endpoints[0]!.settled('a1');
    expect(workspace.isReleasable(after(1_100))).toBe(true);
    expect(workspace.toDetach).toEqual([
      { deliveryId: 'a2', attempts: 0 },
      { deliveryId: 'a3', attempts: 0 },
    ]);
  });

  it('pauses before the next claim when it could send nothing', () => {
    const full = claim(endpoint('we_a', { detached: 3 }));
    expect(full.isReleasable(after(0))).toBe(true);
    expect(full.pauseMs).toBeGreaterThan(0);
    const busy = claim(endpoint('we_a'));
    read(busy, 0, due('a1'));
    sendAll(busy);
    expect(busy.pauseMs).toBe(0);
  });
});
