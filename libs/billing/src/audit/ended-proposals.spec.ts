import { beforeEach, describe, expect, it } from '@jest/globals';
import { CorrectionOffice } from '../../test/correction-office.js';
import { withSetAside, SET_ASIDE_STREAM } from '#event-sourcing/projections/set-aside.js';
import { grace, OPERATORS } from '../../test/operators.js';
import { verifyCorrections } from './corrections.js';
import { textsToSign, signText } from '../offline.js';
import { adjustmentIdOf } from '../domain/correction.js';
import { knownIn } from '../../test/adjustment.js';
import { createCreditsExecutor } from '../executors.js';

const BY = { actor: 'operator:login', correlationId: 'c', causationId: 'c' };
let office: CorrectionOffice;
beforeEach(async () => {
  office = await CorrectionOffice.open();
});

/** What Grace can do alone, with her key, Ada's signature from the log, and the store's login. */
const bookAlone = async (proposal: ReturnType<CorrectionOffice['proposed']>) => {
  const { correctionId, operator, entries, signatures } = proposal.data;
  const texts = textsToSign(correctionId, operator, entries);
  const { workspaceId, ...entry } = entries[0]!;
  const command = {
    type: 'BookCorrection' as const,
    correctionId,
    approvedBy: grace.name,
    actor: `operator:${operator}`,
    entries: [
      {
        ...entry,
        adjustmentId: adjustmentIdOf(correctionId, 0),
        signed: { grantId: null, proposer: signatures[0]!, approver: signText(texts[0]!, grace.privateKey) },
      },
    ],
    known: knownIn(office.store.log.filter(({ stream }) => stream === `credits-${workspaceId}`)),
    now: office.now,
  };
  const context = { intent: 'alone', by: BY, workspaceId, at: office.now };
  const { kind } = await createCreditsExecutor(office.store, 10_000).execute(workspaceId, command, context);
  expect(kind).toBe('accepted');
};

describe('A proposal that has ended, which the other operator then books with the login of the store', () => {
  it('is a finding when its proposer has rejected it', async () => {
    const proposal = office.proposed({ amount: 5000 });
    await office.record(proposal);
    await office.record({ type: 'CorrectionRejected', data: { correctionId: 'c1', reason: 'a mistake' } });
    expect((await office.record(office.approved(proposal))).outcome).toBe('refused');
    await bookAlone(proposal);
    expect(await office.findings()).not.toEqual([]);
  });

  it('is a finding when it has expired', async () => {
    const proposal = office.proposed({ amount: 5000 });
    await office.record(proposal);
    office.now += 8 * 86_400_000;
    expect((await office.record(office.approved(proposal))).outcome).toBe('refused');
    await bookAlone(proposal);
    expect(await office.findings()).not.toEqual([]);
  });

  it('is a finding when readers are told to pass over its rejection', async () => {
    const proposal = office.proposed({ amount: 5000 });
    await office.record(proposal);
    await office.record({ type: 'CorrectionRejected', data: { correctionId: 'c1', reason: 'a mistake' } });
    await bookAlone(proposal);
    const { stream, revision, id, type } = office.store.log.find((one) => one.type === 'CorrectionRejected')!;
    const place = { stream, revision: String(revision), eventId: id, eventType: type, consumers: null };
    const data = { ...place, cause: 'none', reason: 'none' };
    await office.forge(SET_ASIDE_STREAM, { type: 'EventSetAside', data });
    const { findings } = await verifyCorrections(withSetAside(office.store), office.entries(), OPERATORS);
    expect(findings).toMatchObject([{ message: 'the entry is of a correction that was rejected' }]);
  });
});

describe('An approved correction that its book refused', () => {
  it('can be withdrawn before another one takes its place', async () => {
    await office.correct('gift', { amount: 100 });
    const first = office.proposedAs('first', [{ amount: -100 }]);
    await office.record(first);
    await office.correct('used', { amount: -20 });
    expect((await office.record(office.approved(first))).outcome).toBe('incomplete');
    const withdrawn = { correctionId: 'first', reason: 'only 80 are left' };
    const answer = await office.record({ type: 'CorrectionRejected', data: withdrawn });
    expect(answer.outcome).toBe('recorded');
    // The way that docs/finance.md shows: less, under another reference.
    await office.correct('second', { amount: -80 });
    await office.correct('later', { amount: 500 });
    // Grace alone repeats her approval, days later, and then appends the entry herself.
    const again = await office.record(office.approved(first));
    expect(again.outcome).not.toBe('booked');
    expect(await office.findings()).toEqual([]);
    await bookAlone(first);
    expect(await office.findings()).toEqual(['the entry is of a correction that was rejected']);
  });

  it('cannot be withdrawn once it is booked', async () => {
    await office.correct('gift', { amount: 100 });
    const withdrawn = { correctionId: 'gift', reason: 'too late' };
    const answer = await office.record({ type: 'CorrectionRejected', data: withdrawn });
    expect(answer).toEqual({ outcome: 'refused', refusal: 'The correction is booked' });
  });
});
