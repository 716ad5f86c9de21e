import { beforeEach, describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/projection-spec.js';
import { createHash } from 'node:crypto';
import { nextChain } from '#event-sourcing/core/hash-chain.js';
import { linesIn, verifyExport as verifyAlone, unreadableBecause } from '../../../../tools/verify-ledger.mjs';
import {
  appendUnknown,
  exportOf,
  setAside,
  TestBook,
  WS,
  correctedBook,
  eventfulBook,
  openedBook,
  streamOf,
  verifierOf,
} from '../../test/book.js';
import { CreditBooks } from '../application/credit-books.js';
import { createCreditsExecutor } from '../executors.js';
import { balanceProjection } from '../projections.js';
import { balanceAsOf } from '../application/statements.js';
import { Reconciler } from './reconcile.js';
import { allowsSeal } from '../signatures.js';
import { statementOf } from './statement.js';
import { refundedBook } from '../../test/refunded-book.js';
import { changedMembers, type Json } from '../../test/mutations.js';
import { bookEvent, isOpaque } from './book-entry.js';

const AT = '2026-04-12T09:00:01.000Z';
let book: TestBook;

beforeEach(async () => {
  book = new TestBook();
  await book.do(AT, { type: 'OpenBook', workspaceId: WS });
  await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
});

const stored = () => streamOf(book.events);
const verify = () => verifierOf(book.events).report();
const exported = (format: 'csv' | 'jsonl' = 'jsonl') => exportOf(book.events, format);
const verifiedOffline = async () => verifyAlone(linesIn([Buffer.from(await exported())]));

describe('an entry of a book that cannot be read', () => {
  it('stops spending from this book, and is not passed over in silence by the view', async () => {
    await appendUnknown(book, false);
    await expect(book.reserve(AT, 'r1')).rejects.toThrow(/CreditsVanished.*not an event of category credits/);
    expect(() => given(balanceProjection, book.events)).toThrow(/CreditsVanished/);
    const books = new CreditBooks(createCreditsExecutor(book.store, 10_000), { now: () => Date.parse(AT) });
    await expect(books.current(WS)).rejects.toThrow(/CreditsVanished/);
    await expect(balanceAsOf(stored(), { revision: 9n }, 10_000)).rejects.toThrow(/CreditsVanished/);
    expect(await balanceAsOf(stored(), { revision: 1n }, 10_000)).toMatchObject({ available: 50 });
  });

  it('is shown as it is, and as a finding, by verify, export, statement and the offline verifier', async () => {
    await appendUnknown(book, false);
    expect(verify()).toMatchObject({
      firstBadRevision: 2n,
      findings: [
        { check: 'chain' },
        { check: 'event', message: 'cannot be read: not an event of category credits' },
      ],
      setAside: [],
    });
    expect(await exported()).toContain(
      '"kind":"unreadable","revision":"2","eventId":"odd","type":"CreditsVanished"',
    );
    expect(await exported('csv')).toMatch(/^unreadable,2,.*CreditsVanished/m);
    const statement = await statementOf(WS, '2026-04', stored());
    expect(statement!.entries.at(-1)).toMatchObject({
      type: 'CreditsVanished',
      postings: [],
      unreadable: 'cannot be read: not an event of category credits',
    });
    expect(await verifiedOffline()).toMatchObject({
      ok: false,
      findings: [{ message: 'the entry CreditsVanished cannot be read: not an event of category credits' }],
    });
  });

  it.each([
    ['another program appended', false],
    ['a newer version wrote', true],
  ])('that %s is passed over once it is set aside, and every report says so', async (_, chained) => {
    setAside(await appendUnknown(book, chained));
    await book.reserve(AT, 'r1');
    expect(verify()).toMatchObject({
      events: 4,
      findings: [],
      setAside: [{ revision: 2n, type: 'CreditsVanished', setAside: { by: 'operator:ada' } }],
    });
    expect(await verifiedOffline()).toMatchObject({
      ok: true,
      findings: [],
      setAside: ['revision 2 (CreditsVanished) set aside by operator:ada: of a version that was rolled back'],
    });
    expect((await statementOf(WS, '2026-04', stored()))!.entries.map(({ unreadable }) => unreadable)).toEqual(
      [undefined, undefined, 'set aside by operator:ada: of a version that was rolled back', undefined],
    );
    expect(await balanceAsOf(stored(), { revision: 3n }, 10_000)).toMatchObject({ available: 30, held: 20 });
  });

  it('is a finding while somebody hides it that could read it, and stays one when a month closes over it', async () => {
    await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o2' });
    const hidden = book.events.at(-1)!;
    const reconcile = () => {
      const reconciler = new Reconciler(null, new Map());
      for (const event of book.events) reconciler.see(event);
      return reconciler.report(0).differences.filter(({ kind }) => kind === 'hidden');
    };
    expect([verify().findings, reconcile()]).toEqual([[], []]);
    setAside(hidden);
    const message = expect.stringMatching(/PackPurchased can be read, but.* set aside by operator:ada/);
    expect(verify().findings).toEqual([{ revision: 2n, check: 'event', message }]);
    expect(reconcile()).toMatchObject([{ workspaceId: WS, creditsEventId: hidden.id, message }]);
    const another = new CreditBooks(createCreditsExecutor(book.store, 10_000), {
      now: () => Date.parse('2026-05-01'),
    });
    const by = { actor: 'system:test', correlationId: 'c', causationId: 'c' };
    await another.execute(WS, (now) => ({ type: 'RecordDue', now }), 'due', by);
    expect(verify().findings).toEqual([{ revision: 2n, check: 'setAside', message }]);
    expect(verify().findings.every(allowsSeal)).toBe(true);
    expect(reconcile()).toEqual([]);
  });

  it('does not keep the other books from being reconciled', async () => {
    const odd = await appendUnknown(book, false);
    const reading = { ...odd, id: 'bad', stream: 'reading-r9', type: 'ReadingCompleted', data: 'no JSON' };
    const reconcile = () => {
      const reconciler = new Reconciler(null, new Map());
      for (const event of [...book.events, reading]) reconciler.see(event);
      return reconciler.report(0);
    };
    expect(reconcile().differences).toMatchObject([
      { kind: 'unreadable', workspaceId: WS, creditsEventId: 'odd', readingId: null },
      { kind: 'unreadable', workspaceId: WS, readingEventId: 'bad', readingId: 'r9' },
    ]);
    setAside(odd);
    setAside(reading);
    expect(reconcile()).toMatchObject({
      differences: [],
      setAside: [{ type: 'CreditsVanished' }, { type: 'ReadingCompleted' }],
    });
  });
});

describe('lines that are passed over', () => {
  type EventFacts = Parameters<typeof nextChain>[1];

  /** Whether the service can read an event with these facts. */
  const isReadable = ({ stream, type, data, schemaVersion }: EventFacts): boolean => {
    const metadata = {
      correlationId: '',
      causationId: '',
      workspaceId: '',
      actor: '',
      occurredAt: '',
      schemaVersion,
    };
    return !isOpaque(bookEvent({ id: '', stream, revision: 0n, position: 0n, type, data, metadata }));
  };

  const findingsIn = (text: string) =>
    verifyAlone(linesIn([Buffer.from(text)])).findings.map(({ line, field, message }) => ({
      line,
      field,
      message,
    }));

  /** A book with a pack that readers pass over. */
  const hiddenPack = async (): Promise<TestBook> => {
    const book = await openedBook();
    await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
    setAside(book.events.at(-1)!);
    return book;
  };

  /** The export with another reason for passing over the entry, and a footer that fits. */
  const saying = (text: string, problem: string): string => {
    const [header, opened, entry, footer] = text.trimEnd().split('\n');
    const changed = JSON.stringify({ ...(JSON.parse(entry!) as object), problem });
    const sha = (line: string): string => createHash('sha256').update(`${line}\n`).digest('hex');
    return `${[header, opened, changed, footer!.replace(sha(entry!), sha(changed))].join('\n')}\n`;
  };

  describe('a line that is passed over', () => {
    it('is a finding when its entry can be read', async () => {
      const text = await exportOf((await hiddenPack()).events);
      expect(findingsIn(text)).toEqual([
        { line: 3, field: 'problem', message: 'the entry can be read, but readers pass over it' },
      ]);
    });

    it('is a finding when it says that an entry is unreadable which is not', async () => {
      const text = saying(await exportOf((await hiddenPack()).events), 'not an event of category credits');
      expect(findingsIn(text)).toEqual([
        { line: 3, field: 'problem', message: 'the entry is said to be unreadable, but it can be read' },
      ]);
    });
  });

  /** The facts of an event in each version, and each with one change at one member. */
  function* variantsOf(facts: EventFacts): Generator<readonly [name: string, facts: EventFacts]> {
    for (const schemaVersion of [1, 2]) {
      const inVersion = { ...facts, schemaVersion };
      yield [`version ${schemaVersion}`, inVersion];
      const { type, stream, data } = inVersion;
      for (const [what, path, text] of changedMembers({ type, stream, data } as Json))
        yield [
          `version ${schemaVersion} ${path.filter((part) => typeof part === 'string').join('.')} ${what}`,
          { ...inVersion, ...(JSON.parse(text) as EventFacts) },
        ];
    }
  }

  it('The service and the auditor’s file agree which entries can be read, whatever member is changed', async () => {
    const books = [await eventfulBook(), await correctedBook(), await refundedBook()];
    const events = (await Promise.all(books.map(({ events: all }) => exportOf(all)))).flatMap((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { facts?: EventFacts }).facts)
        .filter((facts) => facts !== undefined),
    );
    const kinds = new Map(events.map((facts) => [`${facts.type} ${Object.keys(facts.data!).join()}`, facts]));
    const disagreements: string[] = [];
    const counts = { readable: 0, unreadable: 0 };
    const done = new Set<string>();
    for (const original of kinds.values()) {
      for (const [name, facts] of variantsOf(original)) {
        // Only the service knows all plans and packs. These are not members of an event in every change.
        if (/(?:[pP]lan|pack) (?!deleted|renamed|of another)/.test(name)) continue;
        if (typeof facts.stream !== 'string' || typeof facts.type !== 'string') continue;
        if (done.has(`${original.type} ${name}`)) continue;
        done.add(`${original.type} ${name}`);
        const readable = isReadable(facts);
        counts[readable ? 'readable' : 'unreadable'] += 1;
        if (readable !== (unreadableBecause(facts) === null)) disagreements.push(`${original.type} ${name}`);
      }
    }
    expect(disagreements).toEqual([]);
    expect(Math.min(counts.readable, counts.unreadable)).toBeGreaterThan(500);
  });
});
