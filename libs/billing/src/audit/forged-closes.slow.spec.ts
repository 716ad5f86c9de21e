import { expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { nextChain, type ChainedFacts } from '#event-sourcing/core/hash-chain.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { isSoak } from '../../../../test/support/rounds.js';
import { bookWithSetAside, correctedBook, eventfulBook, exportOf, idleBook } from '../../test/book.js';
import { refundedBook } from '../../test/refunded-book.js';
import { storedInParts } from '../../test/in-parts.js';
import { changedMembers, type Json } from '../../test/mutations.js';

/** The long form tries every change, in half a minute; CI a sample. */
const ONE_OF = isSoak ? 1 : 16;

interface Line {
  readonly previousChain?: string;
  readonly chain?: string;
  readonly facts?: ChainedFacts | null;
}
const parsed = (line: string): Line => JSON.parse(line) as Line;
const isPart = ({ facts }: Line): boolean => facts?.type === 'PeriodCarried';
const isClose = ({ facts }: Line): boolean => facts?.type === 'PeriodClosed';

/** The close of a month that names its parts as they are. The forger knows how a digest is made. */
const withDigest = (parts: readonly Line[], close: readonly ChainedFacts[]): readonly ChainedFacts[] => {
  const end = close.at(-1)!;
  const { carried } = end.data as { carried?: object | null };
  if (!carried || close.length === 1) return close;
  const all = [...parts.map(({ facts }) => facts!), ...close.slice(0, -1)];
  const digest = all.reduce((so, { data }) => hash('sha256', so + canonicalJson(data), 'hex'), '');
  return close.with(-1, { ...end, data: { ...(end.data as object), carried: { ...carried, digest } } });
};

/**
 * Exports up to a close, in which one member of it, or of a part before it, is another: with the digest and the chain that
 * a forger makes. The close that an export starts with is not changed: nothing in the file can contradict it.
 */
function* forgedCloses(text: string): Generator<readonly [name: string, line: number, forged: () => string]> {
  const lines = text.trimEnd().split('\n');
  const all = lines.map(parsed);
  const start = all.findIndex((line, index) => index > 0 && !isPart(line));
  for (const [index, line] of all.entries()) {
    if ((!isPart(line) && !isClose(line)) || index <= start) continue;
    const end = all.findIndex((one, at) => at >= index && isClose(one));
    const from = all.findLastIndex((one, at) => at < index && !isPart(one)) + 1;
    const rest = all.slice(index + 1, end + 1).map(({ facts }) => facts!);
    const before = all.slice(0, index).reduce((so, one) => one.chain ?? one.previousChain ?? so, '');
    for (const [what, path, changed] of changedMembers(line.facts!.data as Json)) {
      const data = JSON.parse(changed) as Json;
      if (canonicalJson(data) === canonicalJson(line.facts!.data)) continue;
      yield [
        `${path.join('.')} ${what}`,
        index + 1,
        () => {
          let chain = before;
          const close = withDigest(all.slice(from, index), [{ ...line.facts!, data }, ...rest]);
          const forged = close.map((facts) => {
            chain = nextChain(chain, facts);
            return JSON.stringify({ kind: 'event', facts, chain });
          });
          return `${[...lines.slice(0, index), ...forged].join('\n')}\n`;
        },
      ];
    }
  }
}

it('A closed month cannot be changed in any member, with a chain that fits, unless the auditor’s file finds it there', async () => {
  const books = [eventfulBook(), bookWithSetAside(), idleBook(), correctedBook(), refundedBook()];
  const histories = (await Promise.all(books)).map(({ events }) => events);
  const divided = storedInParts(histories[0]!);
  const texts = [
    ...(await Promise.all([...histories, divided].map((events) => exportOf(events)))),
    await exportOf(histories[0]!, 'jsonl', '2026-05'),
    await exportOf(divided, 'jsonl', '2026-05'),
  ];
  const survivors: string[] = [];
  let count = 0;
  for (const [number, text] of texts.entries())
    for (const [name, line, forged] of forgedCloses(text)) {
      if (crc32(`${number} ${line} ${name}`) % ONE_OF !== 0) continue;
      count += 1;
      const [first] = verifyAlone(linesIn([Buffer.from(forged())])).findings;
      if (!first || first.line < line) survivors.push(`${number} ${line} ${name}`);
    }
  expect(survivors).toEqual([]);
  expect(count).toBeGreaterThan(300);
});
