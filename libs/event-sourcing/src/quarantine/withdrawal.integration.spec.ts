import { expect, it } from '@jest/globals';
import { event, eventCatalogue, type EventCatalogue } from '../core/event-catalogue.js';
import { requestedBy } from '../core/request-context.js';
import { CommandExecutor } from '../handling/command-executor.js';
import { parkedStreams } from '../projections/parked-streams.js';
import { defineProjection, projectionConsumer } from '../projections/projection.js';
import { releaseParked } from '../projections/release-parked.js';
import { consumersUnderTest, uuid } from '../projections/testing/consumers-under-test.js';
import { replayStream } from '../rebuilding/replay-stream.js';
import { added, contextOf, METADATA, tally, tallyEvents, totalView } from '../testing/tally.js';
import { decideQuarantine } from './decide-quarantine.js';
import { recordQuarantine } from './record-quarantine.js';
import { withQuarantines } from './with-quarantines.js';

const ADA = requestedBy('operator:ada', 'ops_1');
const NAME = 'tally.total.v1';
const PLACE = { stream: 'tally-bad', revision: '0' };
const quiet = { warn: () => undefined, error: () => undefined };

const consumers = consumersUnderTest();
const { start, eventually, append, totals } = consumers;

const projectionOf = (events: EventCatalogue) =>
  defineProjection({ name: NAME, catalogues: [events], views: [totalView as never] });
/** Of the version before, and of the one that understands the event. */
const before = projectionOf(tallyEvents);
const newerEvents = eventCatalogue('tally', {
  ...tallyEvents.definitions,
  Added: event(2, tallyEvents.definitions.Added.schema, { 1: (data) => data }),
});
const newer = projectionOf(newerEvents);

it('An event that the code understands again is read by all once its quarantine is withdrawn', async () => {
  const store = withQuarantines(consumers.store);
  const workshop = { pool: consumers.pool, store, log: quiet, program: '' };
  const parked = async () => (await parkedStreams(consumers.pool, NAME)).map(({ stream }) => stream);
  await consumers.store.append('tally-bad', 'no_stream', [
    { id: uuid(9_001), ...added(5, 'newer'), metadata: { ...METADATA, schemaVersion: 2 } },
  ]);
  await append('a', 'bad');
  const old = start(projectionConsumer(before), { store });
  await eventually(async () => (await parked()).includes('tally-bad'));
  await consumers.caughtUp(NAME);

  const details = {
    eventId: uuid(9_001),
    eventType: 'Added',
    cause: 'version 2',
    reason: 'INC-42',
    until: null,
  };
  const data = { ...PLACE, ...details, consumers: null };
  await recordQuarantine(store, { type: 'EventQuarantined', data }, ADA);
  await releaseParked(projectionConsumer(before), workshop, 'bad');
  expect([await parked(), await totals()]).toEqual([[], { a: 1, bad: 1 }]);
  await old.stop();

  start(projectionConsumer(newer), { store });
  await recordQuarantine(store, { type: 'QuarantineWithdrawn', data: { ...PLACE, reason: '2.4' } }, ADA);
  await replayStream(workshop, newer, PLACE.stream);
  expect([await parked(), await totals()]).toEqual([[], { a: 1, bad: 6 }]);
  await append('bad');
  await eventually(async () => (await totals())['bad'] === 7);
  const executor = new CommandExecutor(store, newerEvents, tally as never);
  const outcome = await executor.execute('bad', { type: 'add', by: 1, ref: 'last' }, contextOf('c'));
  expect(outcome.state).toMatchObject({ total: 8 });
});

it('A consumer that is not there yet handles an event whose quarantine another process withdraws meanwhile', async () => {
  const { pool } = consumers;
  const store = withQuarantines(consumers.store);
  const ops = { pool, store: withQuarantines(consumers.store) };
  const place = { stream: 'tally-late', revision: '0' };
  const details = { eventId: 'any', eventType: 'Added', cause: 'none', reason: 'INC-42', until: null };
  const quarantined = { ...place, ...details, consumers: null };
  await decideQuarantine(ops, { type: 'EventQuarantined', data: quarantined }, ADA);
  await append('a');
  start(projectionConsumer(before), { store });
  await consumers.caughtUp(NAME);
  const withdrawn = { ...place, reason: 'a fact' };
  await decideQuarantine(ops, { type: 'QuarantineWithdrawn', data: withdrawn }, ADA);
  await append('late', 'a');
  await consumers.caughtUp(NAME);
  expect(await totals()).toEqual({ a: 2, late: 1 });
});
