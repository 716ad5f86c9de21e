import { beforeEach, describe, expect, it } from '@jest/globals';
import { ada, CorrectionOffice, eve, grace, type Proposed } from '../../../test/correction-office.js';

let office: CorrectionOffice;
let genuine: Proposed;
/** A statement that says it is of somebody, with the signature of somebody else. */
const as = <T extends { data: { signedBy: object } }>(who: typeof ada, statement: T): T => ({
  ...statement,
  data: { ...statement.data, signedBy: { operator: who.name, keySha256: who.digest } },
});
const forge = (statement: { type: string; data: object }, given = {}) =>
  office.forge('correction-c1', statement, given);
const STREAM_OF_DAY = 'correctionday-2026-04-10';

/** What the two operators do ends as if nobody had forged anything. */
const goesThrough = async (): Promise<void> => {
  expect(await office.record(genuine)).not.toMatchObject({ outcome: 'refused' });
  expect(await office.record(office.approved(genuine))).toMatchObject({ outcome: 'recorded' });
  expect(await office.book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
  expect(office.entries()).toMatchObject([{ stream: 'credits-ws_1', data: { amount: 20 } }]);
};

beforeEach(async () => {
  office = await CorrectionOffice.open();
  genuine = office.proposed({ amount: 20 });
});

describe('somebody with the event store’s login and no key', () => {
  const BAD = 'the signature does not fit the statement';

  it('cannot have an approval booked that they forge, nor keep the genuine one away', async () => {
    await office.record(genuine);
    await forge(as(grace, office.approved(genuine, eve)));
    await forge(office.approved(genuine, eve));
    expect(await office.book()).toMatchObject({ refusal: { code: 'wrong_status', status: 'proposed' } });
    expect(office.entries()).toEqual([]);
    await goesThrough();
    expect(office.findings()).toEqual([BAD, BAD]);
  });

  it('cannot take the place of a proposal, before or after it', async () => {
    const forged = office.proposedAs('c1', [{ amount: 500, workspaceId: 'ws_2' }], eve);
    await forge(as(ada, forged), { workspaceId: 'ws_2' });
    await office.record(genuine);
    await forge(as(ada, forged));
    await goesThrough();
    expect(office.findings()).toEqual([BAD, BAD]);
  });

  it('cannot end a correction', async () => {
    await office.record(genuine);
    const ended = office.withdrawn(genuine, eve);
    await forge(as(ada, ended));
    await forge(as(grace, { ...ended, type: 'CorrectionRejected' }));
    await goesThrough();
    await forge(as(ada, ended));
    expect(await office.status()).toBe('booked');
    expect(office.findings()).toEqual([BAD, BAD, BAD]);
  });

  it('cannot say that a correction is booked', async () => {
    await office.record(genuine);
    await office.record(office.approved(genuine));
    const { proposal } = office.approved(genuine).data;
    await forge({ type: 'CorrectionBooked', data: { correctionId: 'c1', proposal, positions: [0] } });
    expect(await office.status()).toBe('approved');
    expect(await office.book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(office.entries()).toHaveLength(1);
    expect(office.findings()).toEqual(['no book had these entries: 0']);
  });

  it('cannot bring a withdrawn correction back with its own signatures', async () => {
    const approval = office.approved(genuine);
    for (const statement of [genuine, approval, office.withdrawn(genuine)]) await office.record(statement);
    for (const statement of [genuine, approval]) await forge(statement);
    expect(await office.status()).toBe('withdrawn');
    expect(await office.book()).toMatchObject({ refusal: { code: 'wrong_status', status: 'withdrawn' } });
    for (const statement of [genuine, approval]) await office.forge('correction-c2', statement);
    expect(await office.book('c2')).toMatchObject({ refusal: { code: 'unknown' } });
    expect(office.entries()).toEqual([]);
    const other = 'the statement is of another correction';
    expect(office.findings()).toEqual([
      'the correction does not allow it: Stale',
      'the correction does not allow it: WrongStatus',
      other,
      other,
    ]);
  });

  it('cannot use an approval for another proposal', async () => {
    await office.record(genuine);
    const approval = office.approved(genuine);
    await office.record(office.withdrawn(genuine));
    office.now += 1_000;
    genuine = office.proposed({ amount: 20 });
    await office.record(genuine);
    await forge(approval);
    expect(await office.status()).toBe('proposed');
    await goesThrough();
    expect(office.findings()).toEqual(['the correction does not allow it: Stale']);
  });

  it('cannot stop corrections with what nobody can read', async () => {
    const bad = { type: 'CorrectionApproved', data: { correctionId: 'c1' } };
    await forge(bad, { workspaceId: 'ws_9' });
    await forge({ type: 'CorrectionExplained', data: {} });
    await office.forge('operators-register', bad);
    await office.forge(STREAM_OF_DAY, bad);
    await goesThrough();
    await forge(office.approved(genuine), { schemaVersion: 99 });
    expect(await office.status()).toBe('booked');
    expect(office.findings()).toHaveLength(5);
  });

  it('cannot use up the limit of a day', async () => {
    for (const act of ['proposed', 'approved'])
      for (const operator of ['ada', 'grace'])
        await office.forge(STREAM_OF_DAY, {
          type: 'CorrectionCounted',
          data: { correctionId: 'c9', operator, act, credits: 5_000 },
        });
    office.now += 60_000;
    genuine = office.proposed({ amount: 20 });
    await goesThrough();
    expect(office.findings()).toEqual([]);
  });

  it('cannot make themself an operator, nor revoke one', async () => {
    const head = await office.head();
    await office.forge('operators-register', office.added(eve, head));
    await office.forge('operators-register', as(ada, office.revoked(grace, eve, head)));
    await office.record(genuine);
    expect(await office.record(office.approved(genuine, eve))).toMatchObject({
      refusal: { code: 'not_trusted', operator: 'eve' },
    });
    await goesThrough();
    expect(await office.revoke(ada, grace)).toMatchObject({ outcome: 'recorded' });
    const no = 'this statement about an operator does not count:';
    expect(office.findings()).toEqual([`${no} NotARootKey`, `${no} the signature does not fit`]);
  });

  it('cannot keep a signature for later', async () => {
    await office.record(genuine);
    const kept = office.approved(genuine);
    office.now += 3_600_000;
    expect(await office.record(kept)).toMatchObject({ refusal: { code: 'stale' } });
  });
});

it('A stolen key signs nothing after it was revoked, whatever date it gives', async () => {
  const before = office.now;
  await office.record(genuine);
  office.now += 60_000;
  await office.revoke(grace, ada);
  office.now = before;
  const backdated = office.approved(genuine);
  office.now += 120_000;
  await forge(backdated);
  expect(await office.book()).toMatchObject({ outcome: 'refused' });
  expect(office.entries()).toEqual([]);
  expect(office.findings()).toEqual(['the correction does not allow it: NotTrusted']);
});

it('What two operators signed is booked when one of them is revoked later', async () => {
  await office.record(genuine);
  await office.record(office.approved(genuine));
  office.now += 60_000;
  await office.revoke(grace, ada);
  expect(await office.book()).toMatchObject({ outcome: 'booked' });
  expect(office.findings()).toEqual([]);
});
