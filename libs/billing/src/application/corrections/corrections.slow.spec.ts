import { beforeEach, describe, expect, it } from '@jest/globals';
import { instant } from '@app/event-sourcing/core/clock.js';
import { CorrectionOffice, type Proposed } from '../../../test/correction-office.js';
import { CorrectionsVerifier } from '../../audit/corrections/verify-corrections.js';

let office: CorrectionOffice;
const agree = async (proposal: Proposed): Promise<void> => {
  expect(await office.record(proposal)).toMatchObject({ outcome: 'recorded' });
  expect(await office.record(office.approved(proposal))).toMatchObject({ outcome: 'recorded' });
};

beforeEach(async () => {
  office = await CorrectionOffice.open();
});

describe('an approved correction', () => {
  it('is booked once, by any number of processes and however often', async () => {
    await agree(office.proposed({ amount: 20 }, { amount: 5 }));
    const results = await Promise.all([office.book(), office.book(), office.book()]);
    expect([...results, await office.book()].map(({ outcome }) => outcome)).toEqual(Array(4).fill('booked'));
    expect(office.entries()).toHaveLength(2);
    expect(office.findings()).toEqual([]);
  });

  it('is not booked again when the process dies before it notes the booking', async () => {
    await agree(office.proposed({ amount: 20 }));
    const append = office.store.append.bind(office.store);
    office.store.append = (stream, ...rest) =>
      stream.startsWith('correction-') ? Promise.reject(new Error('killed')) : append(stream, ...rest);
    await expect(office.book()).rejects.toThrow('killed');
    office.store.append = append;
    expect(office.entries()).toHaveLength(1);
    expect(await office.book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(office.entries()).toHaveLength(1);
  });

  it('books entries of a later day on that day', async () => {
    const notBefore = '2026-04-12T00:00:00.000Z';
    await agree(office.proposed({ amount: 20 }, { amount: 7, notBefore }));
    expect(await office.book()).toMatchObject({ outcome: 'incomplete', later: [1], refusals: [] });
    office.now = Date.parse(notBefore);
    expect(await office.book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(office.entries().map(({ data }) => (data as { amount: number }).amount)).toEqual([20, 7]);
    expect(office.findings()).toEqual([]);
  });

  it('leaves a book alone that refuses one of its entries, and may be run again', async () => {
    const notBefore = instant(office.now);
    await agree(
      office.proposed(
        { amount: 20 },
        { amount: 9, workspaceId: 'ws_2', notBefore },
        { amount: -30, workspaceId: 'ws_2', notBefore },
      ),
    );
    expect(await office.book()).toMatchObject({
      outcome: 'incomplete',
      correction: { status: 'approved', entries: [{ booked: true }, { booked: false }, { booked: false }] },
      refusals: [{ workspaceId: 'ws_2', code: 'insufficient', required: 30, available: 9 }],
    });
  });
});

it('A reversal that takes the credits of another grant is not what the operators signed', async () => {
  const bought = await office.buyPack();
  await office.correct('c0', { amount: 50, reference: 'INC-1' });
  await office.correct('c1', { amount: -20, reversesEventId: bought, grantId: 'pack:o1:sprint' });
  const gift = office.entries()[0]!.data as { adjustmentId: string };
  const entry = office.entries().at(-1)!;
  const allocations = [{ grantId: `adjustment:${gift.adjustmentId}`, amount: -20 }];
  const verifier = new CorrectionsVerifier(office.config.OPERATOR_ROOT_KEYS);
  for (const event of office.store.log)
    verifier.see(event === entry ? { ...event, data: { ...(event.data as object), allocations } } : event);
  expect(verifier.report().findings.map(({ message }) => message)).toEqual([
    'the entry takes credits of another grant than pack:o1:sprint, which was signed in c1',
  ]);
});

it('The reversal of a pack’s refund is as the operators signed it, with what the book adds', async () => {
  const bought = await office.buyPack();
  await office.correct('c1', { amount: -200, reversesEventId: bought, grantId: 'pack:o1:sprint' });
  const refund = office.entries().at(-1)!.id;
  for (const [id, amount] of [
    ['c2', 70],
    ['c3', 130],
  ] as const)
    await office.correct(id, { amount, reversesEventId: refund });
  expect(office.entries().map(({ data }) => data)).toMatchObject([
    { amount: -200 },
    { amount: 70, restores: { priceCents: 3_465 } },
    { amount: 130, restores: { priceCents: 6_435 } },
  ]);
  expect(office.findings()).toEqual([]);
  expect(office.report()).toMatchObject({ signedEntries: 3 });
});

describe('a correction that is proposed again', () => {
  const again = () => {
    office.now += 1_000;
    return office.proposed({ amount: 20 }, { amount: 5, workspaceId: 'ws_2' });
  };
  /** The proposal is accepted; the book refuses the entry. */
  const refusedLater = () => ({ amount: -5, workspaceId: 'ws_2', notBefore: instant(office.now) });
  const booked = () =>
    office.entries().map(({ stream, data }) => [stream, (data as { amount: number }).amount]);
  const once = [
    ['credits-ws_1', 20],
    ['credits-ws_2', 5],
  ];
  /** Does this once, when a process is about to append to the book of `ws_1`. */
  const beforeBooking = (act: () => Promise<unknown>): void => {
    const append = office.store.append.bind(office.store);
    office.store.append = async (stream, ...rest) => {
      if (stream === 'credits-ws_1') {
        office.store.append = append;
        await act();
      }
      return append(stream, ...rest);
    };
  };

  it('repeats no entry that a withdrawn proposal has booked', async () => {
    const first = office.proposed({ amount: 20 }, refusedLater());
    await agree(first);
    expect(await office.book()).toMatchObject({ outcome: 'incomplete', refusals: [{ workspaceId: 'ws_2' }] });
    await office.record(office.withdrawn(first));
    const second = again();
    const answer = await office.record(second);
    await office.record(office.approved(second));
    await office.book();
    expect(booked()).toEqual([['credits-ws_1', 20]]);
    const repeated = { refusal: { code: 'booked_before', workspaceId: 'ws_1' } };
    expect(answer).toMatchObject(repeated);
    const later = office.proposed({ amount: 20, notBefore: '2026-04-12T00:00:00.000Z' });
    expect(await office.record(later)).toMatchObject(repeated);
    await agree(office.proposed({ amount: 5, workspaceId: 'ws_2' }));
    expect(await office.book()).toMatchObject({ outcome: 'booked' });
    expect(booked()).toEqual(once);
    expect(office.findings()).toEqual([]);
  });

  it('may undo what a withdrawn proposal has booked', async () => {
    const first = office.proposed({ amount: 20 }, refusedLater());
    await agree(first);
    await office.book();
    await office.record(office.withdrawn(first));
    await agree(office.proposed({ amount: -20 }));
    expect(await office.book()).toMatchObject({ outcome: 'booked' });
    expect(office.findings()).toEqual([]);
  });

  it('is booked once when all of it overtakes its first booking', async () => {
    const first = office.proposed({ amount: 20 });
    await agree(first);
    beforeBooking(async () => {
      await office.record(office.withdrawn(first));
      await agree(again());
      await office.book();
    });
    const answer = await office.book();
    expect(booked()).toEqual(once);
    expect(answer).toMatchObject({ outcome: 'refused', refusal: { code: 'stale' } });
    expect(office.findings()).toEqual([]);
  });

  it('is booked once when its first booking ends after the second approval', async () => {
    const first = office.proposed({ amount: 20 });
    await agree(first);
    beforeBooking(async () => {
      await office.record(office.withdrawn(first));
      await agree(again());
    });
    const answers = [await office.book(), await office.book()];
    expect(booked()).toEqual(once);
    expect(answers).toMatchObject([
      { outcome: 'refused', refusal: { code: 'stale' } },
      { outcome: 'incomplete', refusals: [{ code: 'booked_before', workspaceId: 'ws_1' }] },
    ]);
  });

  it('is not booked in the books that are left when it is withdrawn', async () => {
    const first = office.proposed({ amount: 5, workspaceId: 'ws_2' }, { amount: 20 });
    await agree(first);
    const append = office.store.append.bind(office.store);
    office.store.append = async (stream, ...rest) => {
      const appended = await append(stream, ...rest);
      if (stream !== 'credits-ws_2') return appended;
      office.store.append = append;
      await office.record(office.withdrawn(first));
      return appended;
    };
    expect(await office.book()).toMatchObject({ refusal: { code: 'wrong_status', status: 'withdrawn' } });
    expect(booked()).toEqual([['credits-ws_2', 5]]);
  });
});
