import { beforeEach, describe, expect, it } from '@jest/globals';
import { DocumentRefunds } from '../../application/refund-documents/document-refunds.js';
import { CorrectionOffice } from '../../../test/correction-office.js';
import { documentRefund } from '../../domain/document-refund.js';
import { FindReversibleHandler } from '../../application/corrections/find-reversible.handler.js';

const BY = { actor: 'system:billing.document-refund', correlationId: 'c', causationId: 'e' };
let office: CorrectionOffice;

const last = (type: string) => office.store.log.findLast((event) => event.type === type)!;

/** A reading of this book is paid. @returns the event id of its capture */
const paid = async (readingId: string, workspaceId = 'ws_1'): Promise<string> => {
  const { credits } = office.process();
  const ids = { reservationId: readingId, readingId, causeEventId: 'completed' };
  const buy = { type: 'PurchasePack', pack: 'sprint', orderRef: 'o1' } as const;
  await credits.execute(workspaceId, (now) => ({ ...buy, now }), 'buy', BY);
  const reserve = { type: 'ReserveCredits', amount: 20, ...ids } as const;
  await credits.execute(workspaceId, (now) => ({ ...reserve, now }), `reserve:${readingId}`, BY);
  const capture = { type: 'CaptureCredits', ...ids } as const;
  await credits.execute(workspaceId, (now) => ({ ...capture, now }), `capture:${readingId}`, BY);
  return last('CreditsCaptured').id;
};
const fail = async (
  readingId: string,
  { workspaceId = 'ws_1', version = 1, code = 'generation_failed' } = {},
) => {
  await office.forge(`publication-${readingId}`, {
    type: 'PublicationFailed',
    data: { workspaceId, version, code },
  });
  return last('PublicationFailed').id;
};
/** Lets the service book. */
const refund = (readingId: string, failureId: string, livemode = true) => {
  const { credits, books } = office.process();
  const reversible = new FindReversibleHandler(credits, office.store);
  const queries = {
    execute: async (query: object) => ('entry' in query ? reversible.execute(query as never) : { livemode }),
  };
  return new DocumentRefunds(queries as never, books).book({
    workspaceId: 'ws_1',
    readingId,
    failureId,
    by: BY,
  });
};
/** What somebody with the event store’s login can append, as the service would. */
const forgeRefund = async (
  [readingId, failureId, captureId]: readonly [string, string, string],
  other: Record<string, unknown> = {},
  workspaceId = 'ws_1',
) => {
  const { adjustmentId, amount, ...entry } = documentRefund(readingId, failureId, captureId, 20);
  const allocations = [{ grantId: `adjustment:${adjustmentId}`, amount }];
  const by = { approvedBy: 'billing.document-refund', actor: 'system:billing.document-refund' };
  const data = { adjustmentId, amount, allocations, ...entry, ...by, ...other };
  await office.forge(`credits-${workspaceId}`, { type: 'CreditsAdjusted', data });
};
const audit = () => office.findings();
const available = async () => {
  const book = await office.process().credits.current('ws_1');
  return book!.grants.reduce((sum, { remaining }) => sum + remaining, 0);
};

beforeEach(async () => {
  office = await CorrectionOffice.open();
});

describe('the credits of a document that was given up', () => {
  it('come back once, with their value, and the audit admits it without operators', async () => {
    const captureId = await paid('r1');
    const failureId = await fail('r1');
    for (let time = 0; time < 2; time += 1) await refund('r1', failureId);
    expect(await available()).toBe(200);
    expect(office.entries()).toMatchObject([
      {
        data: {
          adjustmentId: documentRefund('r1', failureId, '', 0).adjustmentId,
          amount: 20,
          reversesEventId: captureId,
          reference: 'r1',
          restores: { priceCents: 990 },
          counts: { as: 'earned', of: captureId },
        },
      },
    ]);
    expect(await audit()).toEqual([]);
  });

  it('wait for their capture', async () => {
    const failureId = await fail('r1');
    await expect(refund('r1', failureId)).rejects.toThrow(/not captured yet/);
    await paid('r1');
    await refund('r1', failureId);
    expect(await available()).toBe(200);
    expect(await audit()).toEqual([]);
  });

  it('do not come back twice: operators may have given back all of them, or a part', async () => {
    const captureId = await paid('r1');
    await office.correct('c1', { amount: 20, reversesEventId: captureId });
    await refund('r1', await fail('r1'));
    expect(await available()).toBe(200);
    const other = await paid('r2');
    await office.correct('c2', { amount: 5, reversesEventId: other });
    await refund('r2', await fail('r2'));
    expect(await available()).toBe(200);
    expect(office.entries().map(({ data }) => (data as { amount: number }).amount)).toEqual([20, 5, 15]);
    expect(await audit()).toEqual([]);
  });

  it('stay where they are for a test reading', async () => {
    await paid('r1');
    await refund('r1', await fail('r1'), false);
    expect(office.entries()).toEqual([]);
  });
});

describe('an entry that says so, but', () => {
  const NO_FAILURE = 'no document was given up for this entry, and no two operators signed it';
  const OTHER_CAPTURE = 'the entry does not reverse the capture of reading r1, whose document was given up';
  const OTHER_ENTRY =
    'the entry is not the one that gives back the credits of reading r1, or it is booked twice';

  it.each([
    ['has no failure', null],
    ['has one of a later version', { version: 2 }],
    ['has one with another code', { code: 'result_unreadable' }],
  ])('%s, is found', async (_, failure) => {
    const captureId = await paid('r1');
    const failureId = failure ? await fail('r1', failure) : 'none';
    await forgeRefund(['r1', failureId, captureId]);
    expect(await audit()).toEqual([NO_FAILURE]);
  });

  it('follows a failure after the document was published, is found', async () => {
    const captureId = await paid('r1');
    const data = {
      workspaceId: 'ws_1',
      livemode: true,
      version: 1,
      artifactId: 'a',
      formats: [],
      publishedAt: 'then',
    };
    await office.forge('publication-r1', {
      type: 'DocumentPublished',
      data: { ...data, contentVersion: '2026.11.5' },
    });
    await forgeRefund(['r1', await fail('r1'), captureId]);
    expect(await audit()).toEqual([NO_FAILURE]);
  });

  it('stands before its failure, is found', async () => {
    const captureId = await paid('r1');
    const failureId = `forged-${office.store.log.length + 1}`;
    await forgeRefund(['r1', failureId, captureId]);
    expect(await fail('r1')).toBe(failureId);
    expect(await audit()).toEqual([NO_FAILURE]);
  });

  it('reverses another reading’s capture, or none, is found', async () => {
    const failureId = await fail('r1');
    const other = await paid('r2');
    for (const captureId of [other, 'none']) await forgeRefund(['r1', failureId, captureId]);
    expect(await audit()).toEqual([OTHER_CAPTURE, OTHER_CAPTURE]);
  });

  it('is in the book of another workspace than its failure, is found', async () => {
    const captureId = await paid('r1', 'ws_2');
    await forgeRefund(['r1', await fail('r1'), captureId], {}, 'ws_2');
    expect(await audit()).toEqual([OTHER_CAPTURE]);
  });

  it.each([
    { amount: 19, allocations: [] },
    { amount: 40, allocations: [] },
    { reason: 'a gift' },
    { approvedBy: 'grace' },
    { correctionId: 'c1' },
    { expiresAt: '2027-04-10T12:00:00.000Z' },
  ])('differs in %p, is found', async (difference) => {
    const captureId = await paid('r1');
    await forgeRefund(['r1', await fail('r1'), captureId], difference);
    expect(await audit()).toEqual([OTHER_ENTRY]);
  });

  it('names another reading, is found: nothing shows its cause', async () => {
    const captureId = await paid('r1');
    await forgeRefund(['r1', await fail('r1'), captureId], { reference: 'r2' });
    expect(await audit()).toEqual([NO_FAILURE]);
  });

  it('is the second one of its failure, is found', async () => {
    const captureId = await paid('r1');
    const failureId = await fail('r1');
    await refund('r1', failureId);
    await forgeRefund(['r1', failureId, captureId]);
    expect(await audit()).toEqual([OTHER_ENTRY]);
  });

  it('comes after operators gave the credits back, is found', async () => {
    const captureId = await paid('r1');
    await office.correct('c1', { amount: 20, reversesEventId: captureId });
    await forgeRefund(['r1', await fail('r1'), captureId]);
    expect(await audit()).toEqual([OTHER_ENTRY]);
  });
});
