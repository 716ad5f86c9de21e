import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { linesIn, operatorsIn, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { altered, exportOf, openedBook, rechained, renumbered } from '../../test/book.js';
import { CorrectionOffice } from '../../test/correction-office.js';
import { ada, eve, OPERATORS_SETTING } from '../../test/operators.js';
import { FindReversibleHandler, DocumentRefunds } from '../application/corrections.js';
import { documentRefund } from '../domain/document-refund.js';
import { parseOperators } from '../settings.js';

const BY = { actor: 'system:billing.document-refund', correlationId: 'c', causationId: 'e' };
let office: CorrectionOffice;

const last = (type: string) => office.store.log.findLast((event) => event.type === type)!;

/** A reading of this book is paid. @returns the event id of its capture */
const paid = async (readingId: string, workspaceId = 'ws_1'): Promise<string> => {
  const { credits } = office.process();
  const ids = { reservationId: readingId, readingId };
  const buy = { type: 'PurchasePack', pack: 'sprint', orderRef: 'o1' } as const;
  await credits.execute(workspaceId, (now) => ({ ...buy, now }), 'buy', BY);
  const reserve = { type: 'ReserveCredits', reservations: [ids], amount: 20, all: true } as const;
  await credits.execute(workspaceId, (now) => ({ ...reserve, now }), `reserve:${readingId}`, BY);
  const capture = { type: 'CaptureCredits', ...ids, causeEventId: 'completed' } as const;
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
  const reversible = new FindReversibleHandler(credits, books);
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

const UNSIGNED = 'no two operators signed this entry';
/** Ends an entry with a correction that two operators sign. */
const reverse = (correctionId: string, { id }: StoredEvent, amount: number) =>
  office.correct(correctionId, { amount, reversesEventId: id });

const STREAM = 'credits-ws_1';
const events = () => office.store.log.filter(({ stream }) => stream === STREAM);

/** What both verifiers find of a book. */
const found = async (book = events(), operators = OPERATORS_SETTING) => {
  const text = await exportOf(rechained(book));
  const alone = verifyExport(linesIn([Buffer.from(text)]), { operators: operatorsIn(operators) });
  const entries = book.filter(({ type }) => type === 'CreditsAdjusted');
  const own = await office.findings(entries, parseOperators(operators));
  const messages = alone.findings.map(({ message }) => message);
  return { alone, own, messages };
};

describe('An entry that nobody signed', () => {
  let forged: StoredEvent;
  beforeEach(async () => {
    forged = await office.bookUnsigned('ws_1', 50);
  });

  it('is a finding until signed corrections take back all of it, and then names the last of them', async () => {
    expect(await office.report()).toMatchObject({ findings: [{ message: UNSIGNED }], compensated: [] });
    await reverse('c1', forged, -20);
    expect(await office.report()).toMatchObject({ findings: [{ message: UNSIGNED }], compensated: [] });
    await reverse('c2', forged, -30);
    expect(await office.report()).toMatchObject({
      findings: [],
      compensated: [
        { stream: forged.stream, revision: forged.revision, message: UNSIGNED, compensatedBy: 'c2' },
      ],
    });
  });

  it('stays a finding after a correction that nobody signed, or that names another entry', async () => {
    await office.correct('c1', { amount: -50 });
    await office.correct('c2', { amount: 50 });
    await office.bookUnsigned('ws_1', -50, forged.id);
    expect(await office.findings()).toEqual([UNSIGNED, UNSIGNED]);
    expect((await office.report()).compensated).toEqual([]);
  });

  it('can be compensated though its forger reversed it too: that entry and its reversal are reversed', async () => {
    const own = await office.bookUnsigned('ws_1', -50, forged.id);
    await reverse('c1', own, 50);
    expect(await office.findings()).toEqual([UNSIGNED, UNSIGNED]);
    await reverse('c2', office.entries().at(-1)!, -50);
    expect(await office.report()).toMatchObject({
      findings: [],
      compensated: [{ compensatedBy: 'c2' }, { compensatedBy: 'c2' }],
    });
  });

  it('opens no way for a later one: each needs a signature after it', async () => {
    await reverse('c1', forged, -50);
    const again = await office.bookUnsigned('ws_1', 50, office.entries().at(-1)!.id);
    expect(await office.findings()).toEqual([UNSIGNED]);
    await reverse('c2', again, -50);
    expect(await office.report()).toMatchObject({ findings: [], compensated: [{}, { compensatedBy: 'c2' }] });
  });
});

describe('The file of the auditor', () => {
  beforeEach(() => office.correct('c1', { amount: 20 }));

  it('finds the entry that nobody approved, as the service does, until it is compensated', async () => {
    const forged = await office.bookUnsigned('ws_1', 50);
    const before = await found();
    expect(before.messages).toEqual(['no two operators signed this entry']);
    expect(before.alone.findings).toMatchObject([
      { field: 'facts.data.signed', revision: String(forged.revision) },
    ]);
    expect(before.own).toEqual(before.messages);
    await office.correct('c2', { amount: -50, reversesEventId: forged.id });
    const after = await found();
    expect([after.messages, after.own]).toEqual([[], []]);
    expect(after.alone).toMatchObject({
      ok: true,
      corrections: { checked: 3, compensated: [{ revision: String(forged.revision), by: 'c2' }] },
    });
  });

  it.each([
    [{ reason: 'another' }, 'the signature of ada does not fit this entry'],
    [{ actor: 'system:clock' }, 'no two operators signed this entry'],
    [{ approvedBy: 'eve' }, 'eve, who is to have signed this entry, is no operator'],
    [{ approvedBy: 'ada' }, 'ada proposed and approved this entry alone'],
  ])(
    'finds an entry that was changed in %p, as the service does, with a chain that fits',
    async (change, message) => {
      const book = events();
      const index = book.findIndex(({ type }) => type === 'CreditsAdjusted');
      const data = JSON.parse(JSON.stringify(altered(book[index]!, change).data)) as object;
      const { messages, own } = await found(book.with(index, { ...book[index]!, data }));
      expect(messages).toEqual([message]);
      expect(own).toEqual([message]);
    },
  );

  it('finds a copy of an entry, an entry of another book, and credits of another grant than was signed', async () => {
    const [gift] = office.entries();
    const metadata = { ...gift!.metadata, workspaceId: 'ws_2' };
    const inOther = { ...gift!, stream: 'credits-ws_2', metadata };
    expect(await office.findings([gift!, gift!, inOther])).toEqual([
      'the entry is booked twice',
      'the signature of ada does not fit this entry',
    ]);
    const bought = await office.buyPack();
    await office.correct('c2', { amount: -20, reversesEventId: bought, grantId: 'pack:o1:sprint' });
    expect((await found()).messages).toEqual([]);
    const { adjustmentId } = gift!.data as { adjustmentId: string };
    const allocations = [{ grantId: `adjustment:${adjustmentId}`, amount: -20 }];
    const book = events();
    const { own } = await found(book.with(-1, altered(book.at(-1)!, { allocations })));
    expect(own).toEqual(['the entry takes credits of another grant than pack:o1:sprint, which was signed']);
  });

  it('finds an entry with the id of a signed one, as the service does, also after operators reverse that one', async () => {
    const [gift] = office.entries();
    const adjustmentId = 'forged';
    const allocations = [{ grantId: `adjustment:${adjustmentId}`, amount: 20 }];
    const { signed: _, ...data } = altered(gift!, { adjustmentId, allocations }).data as { signed: object };
    const { id, type, metadata } = gift!;
    await office.store.append(STREAM, BigInt(events().length - 1), [{ id, type, data, metadata }]);
    await office.correct('c2', { amount: -20, reversesEventId: id });
    const { messages, own } = await found();
    expect([messages, own]).toEqual([[UNSIGNED], [UNSIGNED]]);
    expect((await office.report()).compensated).toEqual([]);
  });

  it('finds a signed entry whose id a forger took before, as the service does', async () => {
    const [gift] = office.entries();
    await office.correct('c2', { amount: 30 });
    const copied = 'the entry has the id of another one';
    const { messages, own } = await found(events().with(-1, { ...events().at(-1)!, id: gift!.id }));
    expect([messages, own]).toEqual([[copied], [copied]]);
  });

  it('finds in the export of a month an entry that an earlier month has booked', async () => {
    const book = await openedBook();
    await book.correct('2026-04-12T09:00:00Z', { amount: 500 });
    const signed = book.events.at(-1)!;
    const { adjustmentId } = signed.data as { adjustmentId: string };
    await book.correct('2026-04-13T09:00:00Z', { amount: -500, grantId: `adjustment:${adjustmentId}` });
    await book.do('2026-05-02T09:00:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o9' });
    const metadata = { ...signed.metadata, occurredAt: '2026-05-03T09:00:00.000Z' };
    const all = rechained(renumbered([...book.events, { ...signed, id: 'again', metadata }]));
    const text = await exportOf(all, 'jsonl', '2026-05');
    const operators = operatorsIn(OPERATORS_SETTING);
    const { findings } = verifyExport(linesIn([Buffer.from(text)]), { operators });
    expect(findings.map(({ message }) => message)).toEqual(['the entry is booked twice']);
  });

  it('counts keys that are retired, and checks nothing without keys', async () => {
    const retiredAt = (at: string) => OPERATORS_SETTING.replaceAll(/,|$/g, `:retired=${at},`);
    expect((await found(events(), retiredAt('2026-04-10T12:00:00Z'))).messages).toEqual([]);
    const grace = 'grace, who is to have signed this entry, is no operator';
    expect((await found(events(), OPERATORS_SETTING.split(',')[0])).messages).toEqual([grace]);
    const lines = linesIn([Buffer.from(await exportOf(events()))]);
    expect(verifyExport(lines)).toMatchObject({ ok: true, corrections: null });
    expect(() => operatorsIn(`ada:${ada.publicKey}:retired`)).toThrow('says not since when');
    expect(() => operatorsIn('ada')).toThrow('is not <name>:<public key>');
    expect(() => operatorsIn(`ada:${ada.publicKey},grace:${ada.publicKey}`)).toThrow('same key');
  });
});

it('A key that was retired signs nothing later: the entry is a finding, though its operator has a new key', async () => {
  await office.correct('c1', { amount: 20 });
  const retired = `$&:retired=2026-04-10T11:59:59.999Z,grace:${eve.publicKey}`;
  const { messages, own } = await found(events(), OPERATORS_SETTING.replace(/grace:[^,]+/, retired));
  const message = 'the key with which grace is to have signed this entry was retired before';
  expect([messages, own]).toEqual([[message], [message]]);
});

describe('the credits of a document that was given up', () => {
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

  it.each([{ amount: 19, allocations: [] }, { reason: 'a gift' }])(
    'differs in %p, is found',
    async (difference) => {
      const captureId = await paid('r1');
      await forgeRefund(['r1', await fail('r1'), captureId], difference);
      expect(await audit()).toEqual([OTHER_ENTRY]);
    },
  );

  it.each([
    ['more than the reading took', [{ amount: 1_000_000 }]],
    ['less', [{ amount: 19, restores: { grantIds: ['pack:o1:sprint'], priceCents: 940 } }]],
    ['the credits of another reading', [{ reference: 'r2' }]],
    [
      'them twice',
      [{}, { adjustmentId: 'again', restores: { grantIds: ['pack:o1:sprint'], priceCents: 0 } }],
    ],
  ])('gives back %s, is found by the auditor’s file', async (_, refunds) => {
    const captureId = await paid('r1');
    const value = {
      restores: { grantIds: ['pack:o1:sprint'], priceCents: 990 },
      counts: { as: 'earned', of: captureId },
    };
    for (const other of refunds) {
      const { adjustmentId, amount } = { ...documentRefund('r1', 'f1', captureId, 20), ...other };
      const allocations = [{ grantId: `adjustment:${adjustmentId}`, amount }];
      await forgeRefund(['r1', 'f1', captureId], { ...value, ...other, allocations });
    }
    const { messages } = await found();
    expect(messages).toEqual(['the entry does not give back what is left of its reading']);
  });
});
