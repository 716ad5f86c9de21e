import { beforeEach, describe, expect, it } from '@jest/globals';
import { withQuarantines } from '@app/event-sourcing/quarantine/with-quarantines.js';
import { ada, CorrectionOffice, eve, grace, type Proposed } from '../../../test/correction-office.js';
import { CorrectionsVerifier } from '../../audit/corrections/verify-corrections.js';
import { ListCorrections } from '../../contracts/corrections.js';
import { JudgeStatements } from '../../contracts/judged-statements.js';
import { JudgeStatementsHandler } from '../operators/judge-statements.handler.js';
import { ListCorrectionsHandler } from './get-corrections.handlers.js';

const REGISTER = 'operators-register';
const IDLE = 'it counts, so its quarantine has no effect: somebody may have tried to hide it';
let office: CorrectionOffice;
let genuine: Proposed;

beforeEach(async () => {
  office = await CorrectionOffice.open();
  genuine = office.proposed({ amount: 20 });
});

/** What somebody with the event store’s login can do: ops takes no part. */
const quarantine = (stream: string, revision: bigint) =>
  office.forge('quarantine-events', {
    type: 'EventQuarantined',
    data: {
      stream,
      revision: String(revision),
      eventId: 'any',
      eventType: 'any',
      consumers: null,
      cause: 'none',
      reason: 'none',
      until: null,
    },
  });
const lastOf = (stream: string): bigint =>
  office.store.log.findLast((event) => event.stream === stream)!.revision;
const verified = async () => {
  const verifier = new CorrectionsVerifier(office.config.OPERATOR_ROOT_KEYS);
  for await (const event of withQuarantines(office.store).readAll()) verifier.see(event);
  const { findings, quarantined } = verifier.report();
  return { findings: findings.map(({ message }) => message), quarantined };
};

describe('a quarantine of a statement that counts', () => {
  it('hides no revocation, and is a finding', async () => {
    await office.record(genuine);
    await office.revoke(grace, ada);
    await quarantine(REGISTER, lastOf(REGISTER));
    const { keys } = await office.process().register.load();
    expect(keys.map(({ operator, status }) => [operator, status])).toEqual([
      ['ada', 'active'],
      ['grace', 'revoked'],
    ]);
    expect(await office.record(office.approved(genuine))).toMatchObject({
      refusal: { code: 'not_trusted', operator: 'grace' },
    });
    expect(await verified()).toEqual({ findings: [IDLE], quarantined: 0 });
  });

  it('does not undo a withdrawal, nor an approval', async () => {
    await office.record(genuine);
    await office.record(office.approved(genuine));
    await quarantine('correction-c1', lastOf('correction-c1'));
    expect(await office.status()).toBe('approved');
    await office.record(office.withdrawn(genuine));
    await quarantine('correction-c1', lastOf('correction-c1'));
    expect(await office.book()).toMatchObject({ refusal: { code: 'wrong_status', status: 'withdrawn' } });
    expect(office.entries()).toEqual([]);
    expect(await verified()).toEqual({ findings: [IDLE, IDLE], quarantined: 0 });
  });

  it('does not hide one that a newer program wrote', async () => {
    await office.forge(REGISTER, office.revoked(grace, ada, await office.head()), { schemaVersion: 99 });
    await quarantine(REGISTER, lastOf(REGISTER));
    await expect(office.process().register.load()).rejects.toThrow('version 99 is newer than this program');
    expect((await verified()).findings).toEqual([expect.stringContaining('version 99 is newer')]);
  });
});

it('A quarantine of a statement that does not count accepts it: it is no finding any more', async () => {
  await office.record(genuine);
  for (const forged of [
    office.approved(genuine, eve),
    { type: 'CorrectionApproved', data: {} },
    { type: 'CorrectionBooked', data: { ...office.approved(genuine).data, positions: [0] } },
  ]) {
    await office.forge('correction-c1', forged);
    await quarantine('correction-c1', lastOf('correction-c1'));
  }
  // A copy of what somebody signed, in a version that nobody knows.
  await office.forge('correction-c1', genuine, { schemaVersion: 99 });
  await quarantine('correction-c1', lastOf('correction-c1'));
  expect(await verified()).toEqual({ findings: [], quarantined: 4 });
  await office.record(office.approved(genuine));
  expect(await office.book()).toMatchObject({ outcome: 'booked' });
});

it('Corrections that are listed together share one reading of the operators', async () => {
  for (const id of ['c1', 'c2', 'c3']) await office.record(office.proposedAs(id, [{ amount: 1 }]));
  let readings = 0;
  const { store } = office;
  const read = store.read.bind(store);
  store.read = (stream, options) => {
    if (stream === REGISTER) readings += 1;
    return read(stream, options);
  };
  const { executors, books } = office.process();
  const list = new ListCorrectionsHandler(executors, books, office.clock);
  expect(await list.execute(new ListCorrections(1))).toHaveLength(3);
  expect(readings).toBe(1);
});

describe('statements that are judged', () => {
  const judge = async () => {
    const { executors, books } = office.process();
    const { store, config, clock } = office;
    const handler = new JudgeStatementsHandler(store, config, clock, executors, books);
    const judged = await handler.execute(new JudgeStatements(['correction-c1'], 2));
    return judged.map(({ stream, worth, reason }) => [stream, worth, reason].join(' ').trim());
  };

  it('count by their signatures, and bookings by the books', async () => {
    await office.record(genuine);
    await office.record(office.approved(genuine));
    const { proposal } = office.approved(genuine).data;
    const booked = { type: 'CorrectionBooked', data: { correctionId: 'c1', proposal, positions: [0] } };
    await office.forge('correction-c1', booked);
    const before = [
      `${REGISTER} counts`,
      `${REGISTER} counts`,
      'correctionday-2026-04-10 counts',
      'correctionday-2026-04-10 counts',
      'correction-c1 counts',
      'correction-c1 counts',
    ];
    expect(await judge()).toEqual([...before, 'correction-c1 does not count no book has these entries: 0']);
    await office.book();
    expect((await judge()).slice(before.length)).toEqual(['correction-c1 counts']);
  });

  it('are unknown from one on that only a newer program can read', async () => {
    await office.forge(REGISTER, office.revoked(grace, ada, await office.head()), { schemaVersion: 99 });
    const unknown = `${REGISTER} unknown version 99 is newer than this program`;
    expect(await judge()).toEqual([`${REGISTER} counts`, `${REGISTER} counts`, unknown]);
  });
});
