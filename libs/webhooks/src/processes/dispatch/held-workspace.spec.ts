import { describe, expect, it } from '@jest/globals';
import { Bulkhead } from '../../domain/flow-control.js';
import type { DueDelivery } from './due-deliveries.js';
import { HeldWorkspace, type Moment } from './held-workspace.js';
import type { EndpointSnapshot } from './workspace-leases.js';

const NOW = Date.parse('2026-04-04T09:30:00Z');
const after = (elapsed: number): Moment => ({ elapsed, now: NOW + elapsed });
const LIMITS = { perEndpoint: 3, perWorkspace: 4, leaseMs: 25_000, marginMs: 15_000 };

const endpoint = (endpointId: string, changes: Partial<EndpointSnapshot> = {}): EndpointSnapshot => ({
  endpointId,
  revision: '0',
  url: 'https://receiver.example/',
  secrets: [],
  consecutiveFailures: 0,
  probeAt: 0,
  headersRef: null,
  maxPerSecond: null,
  ...changes,
});
const holdBy = (bulkhead: Bulkhead, ...endpoints: readonly EndpointSnapshot[]): HeldWorkspace => {
  const workspace = new HeldWorkspace({ workspaceId: 'ws_1', lease: 'lease' }, LIMITS, bulkhead, 0);
  workspace.renewed(endpoints, 0);
  return workspace;
};
/** By a process that knows the endpoints for prompt ones. */
const hold = (...endpoints: readonly EndpointSnapshot[]): HeldWorkspace => {
  const bulkhead = new Bulkhead(256);
  for (const { endpointId } of endpoints)
    bulkhead.end(bulkhead.start(bulkhead.meet(endpointId, false), 0), 0);
  return holdBy(bulkhead, ...endpoints);
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
const read = (workspace: HeldWorkspace, index: number, ...batch: readonly DueDelivery[]): void => {
  const at = workspace.endpoints[index]!;
  const { endpointId } = at.startRead();
  at.addBatch({ endpointId, due: batch, hasMore: false, dueFrom: '', replayedFrom: '' });
};
const sendAll = (workspace: HeldWorkspace, moment = after(0)): readonly string[] => {
  const next = workspace.startNext(moment);
  return next ? [next.delivery.deliveryId, ...sendAll(workspace, moment)] : [];
};

describe('A workspace whose lease a worker has', () => {
  it('sends one to each endpoint before a second to any, within both limits', () => {
    const bulkhead = new Bulkhead(256);
    const ids = ['we_a', 'we_b'];
    for (const id of ids) bulkhead.end(bulkhead.start(bulkhead.meet(id, false), 0), 0);
    const workspace = holdBy(bulkhead, ...ids.map((id) => endpoint(id)));
    read(workspace, 0, due('a1'), due('a2'), due('a3'), due('a4'));
    read(workspace, 1, due('b1'));
    const sent = Array.from({ length: 5 }, () => workspace.startNext(after(0)));
    expect(sent.map((next) => next?.delivery.deliveryId)).toEqual(['a1', 'b1', 'a2', 'a3', undefined]);
    const ends = (index: number): void => {
      const { endpoint: at, slot } = sent[index]!;
      bulkhead.end(slot, 0);
      workspace.exchangeEnded(at);
    };
    ends(1);
    expect(sendAll(workspace)).toEqual([]);
    ends(0);
    expect(sendAll(workspace)).toEqual(['a4']);
  });

  it('sends new events before replayed ones, also when those were read first', () => {
    const workspace = hold(endpoint('we_a'));
    read(workspace, 0, due('old', true));
    read(workspace, 0, due('new'));
    expect(sendAll(workspace)).toEqual(['new', 'old']);
  });

  it('sends one delivery at a time to an endpoint that keeps failing, when its probe is due', () => {
    const workspace = hold(endpoint('we_a', { consecutiveFailures: 10, probeAt: NOW + 500 }));
    read(workspace, 0, due('a1'), due('a2'));
    expect(sendAll(workspace, after(499))).toEqual([]);
    expect(workspace.isIdle(NOW + 499)).toBe(true);
    expect(sendAll(workspace, after(500))).toEqual(['a1']);
  });

  it('does not take a failure for a success that was read before it was recorded', () => {
    const workspace = hold(endpoint('we_a'));
    workspace.endpoints[0]!.failed(10, NOW + 60_000, 20);
    workspace.renewed([endpoint('we_a', { consecutiveFailures: 9 })], 10);
    read(workspace, 0, due('a1'));
    expect(sendAll(workspace, after(30))).toEqual([]);
    workspace.renewed([endpoint('we_a')], 40);
    expect(sendAll(workspace, after(50))).toEqual(['a1']);
  });

  it('does not read again what it sent and has not recorded', () => {
    const workspace = hold(endpoint('we_a'));
    read(workspace, 0, due('a1'), due('a2'));
    workspace.startNext(after(0));
    workspace.exchangeEnded(workspace.endpoints[0]!);
    expect(workspace.endpoints[0]!.startRead().known).toEqual(['a2', 'a1']);
    workspace.endpoints[0]!.settled('a1');
    expect(workspace.endpoints[0]!.startRead().known).toEqual(['a2']);
  });

  it('starts no attempt that could outlive the lease, until it is renewed', () => {
    const workspace = hold(endpoint('we_a'));
    read(workspace, 0, due('a1'), due('a2'));
    expect(workspace.startNext(after(9_999))?.delivery.deliveryId).toBe('a1');
    expect(sendAll(workspace, after(10_000))).toEqual([]);
    expect(workspace.hasLost(24_999)).toBe(false);
    expect(workspace.hasLost(25_000)).toBe(true);
    workspace.renewed([endpoint('we_a')], 10_000);
    expect(sendAll(workspace, after(10_001))).toEqual(['a2']);
  });

  it('drops what it read for an endpoint that has changed, and sends nothing to one that is gone', () => {
    const workspace = hold(endpoint('we_a'), endpoint('we_b'));
    read(workspace, 0, due('a1'));
    read(workspace, 1, due('b1'));
    workspace.renewed([endpoint('we_a', { revision: '1' })], 0);
    expect(sendAll(workspace)).toEqual([]);
    read(workspace, 0, due('a1'));
    read(workspace, 1, due('b1'));
    expect(sendAll(workspace)).toEqual(['a1']);
  });

  it('is idle when nothing is left to do, and its pace owes nothing', () => {
    const workspace = hold(endpoint('we_a', { maxPerSecond: 2 }));
    expect(workspace.isIdle(NOW)).toBe(false);
    read(workspace, 0, due('a1'));
    expect(workspace.isIdle(NOW)).toBe(false);
    sendAll(workspace);
    expect(workspace.isIdle(NOW)).toBe(false);
    workspace.exchangeEnded(workspace.endpoints[0]!);
    expect(workspace.isIdle(NOW + 499)).toBe(false);
    expect(workspace.isIdle(NOW + 500)).toBe(true);
    workspace.endpoints[0]!.readAgain();
    expect(workspace.isIdle(NOW + 500)).toBe(false);
  });

  it('that is being left sends nothing more, and waits for what is being recorded', () => {
    const workspace = hold(endpoint('we_a'));
    read(workspace, 0, due('a1'), due('a2'));
    workspace.startNext(after(0));
    workspace.isLeaving = true;
    expect(sendAll(workspace)).toEqual([]);
    expect(workspace.isIdle(NOW)).toBe(false);
    workspace.exchangeEnded(workspace.endpoints[0]!);
    workspace.recording = 1;
    expect(workspace.isIdle(NOW)).toBe(false);
    workspace.recording = 0;
    expect(workspace.isIdle(NOW)).toBe(true);
  });
});
