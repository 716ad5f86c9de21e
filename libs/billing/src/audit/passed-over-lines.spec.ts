import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { nextChain } from '#event-sourcing/core/hash-chain.js';
import { linesIn, unreadableBecause, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import {
  correctedBook,
  eventfulBook,
  exportOf,
  openedBook,
  setAside,
  bookWithSetAside,
  type TestBook,
} from '../../test/book.js';
import { refundedBook } from '../../test/refunded-book.js';
import { changedMembers, type Json } from '../../test/mutations.js';
import { bookEvent, isOpaque } from './unreadable-entry.js';

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

  it('is no finding when nobody can read it', async () => {
    expect(findingsIn(await exportOf((await bookWithSetAside()).events))).toEqual([]);
  });
});

it('An entry that no reader can read is a finding, also when its chain value fits', async () => {
  const lines = (await exportOf((await eventfulBook()).events)).trimEnd().split('\n');
  const index = lines.findIndex((line) => line.includes('"type":"CreditsAdjusted"'));
  const previous = lines.slice(0, index).findLast((line) => line.includes('"chain"'))!;
  const { facts } = JSON.parse(lines[index]!) as { facts: EventFacts };
  const forged = { ...facts, data: { ...(facts.data as object), reason: 5 } };
  const { chain } = JSON.parse(previous) as { chain: string };
  const line = JSON.stringify({ kind: 'event', facts: forged, chain: nextChain(chain, forged) });
  const bytes = [Buffer.from(`${[...lines.slice(0, index), line].join('\n')}\n`)];
  expect(verifyAlone(linesIn(bytes)).findings[0]).toMatchObject({
    line: index + 1,
    field: 'facts.data.reason',
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
