import { expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import {
  linesIn,
  TERMS_SOLD as SOLD_ALONE,
  verifyExport as verifyAlone,
} from '../../../../tools/verify-ledger.mjs';
import { altered, correctedBook, exportOf, rechained } from '../../test/book.js';
import { TERMS_SOLD } from '../contracts/catalogue.js';
import { BookVerifier } from './verify-book.js';

/** What the verifiers of books and of files say of the first entry of a type, as somebody with the event store's login may have written it. */
const messagesOf = async (forge: (event: StoredEvent) => StoredEvent, type = 'GrantExpired') => {
  const { events } = await correctedBook();
  const index = events.findIndex((event) => event.type === type);
  const forged = rechained(events.with(index, forge(events[index]!)));
  const verifier = new BookVerifier(forged[0]!.stream, 10_000);
  for (const event of forged) verifier.see(event);
  const bytes = Buffer.from(await exportOf(forged));
  const of = (findings: readonly { readonly message: string }[]) => findings.map(({ message }) => message);
  return {
    book: of(verifier.report().findings),
    alone: of(verifyAlone(linesIn([bytes])).findings),
  };
};

/** Credits and cents of every release. Only ever add to it. */
const SOLD = {
  studio: ['400 for 14900'],
  pro: ['2000 for 39900'],
  growth: ['10000 for 119000'],
  access_local: ['100 for 4900'],
  flex: ['50 for 2900'],
  sprint: ['200 for 9900'],
  campaign: ['500 for 19900'],
  burst: ['2000 for 69900'],
};

const OTHER = 'a grant expires at another time than its own end';
const EARLY = 'a grant expires before its end';

it('An expiry that follows from its grant is right', async () => {
  expect(await messagesOf((event) => event)).toEqual({ book: [], alone: [] });
});

it.each([
  [
    'that took credits of a pack',
    OTHER,
    (event: StoredEvent) => altered(event, { grantId: 'pack:o1:sprint' }),
  ],
  [
    'at another time',
    OTHER,
    (event: StoredEvent) => altered(event, { expiredAt: '2026-05-01T00:00:00.000Z' }),
  ],
  [
    'before it was due',
    EARLY,
    (event: StoredEvent) => ({
      ...event,
      metadata: { ...event.metadata, occurredAt: '2026-05-02T00:00:00.000Z' },
    }),
  ],
])('An expiry %s is found in the log and in the file', async (_, message, forge) => {
  const { book, alone } = await messagesOf(forge);
  expect([book[0], alone[0]]).toEqual([expect.stringContaining(message), expect.stringContaining(message)]);
});

it.each([
  ['PlanGranted', 'for nothing', { priceCents: 0 }],
  ['PackPurchased', 'for nothing', { priceCents: 0 }],
  ['PlanGranted', 'of more credits than its plan has', { credits: 100_000 }],
  ['PackPurchased', 'for a cent', { priceCents: 1 }],
])('%s %s is found in the log and in the file', async (type, _, forged) => {
  const messages = await messagesOf((event) => altered(event, forged), type);
  for (const [first] of Object.values(messages)) expect(first).toContain('was never sold on these terms');
});

it('Both verifiers know the same terms', () => {
  expect(SOLD_ALONE).toEqual(Object.fromEntries(TERMS_SOLD));
});

it('Terms that were sold once are known for ever: a change of a price moves the old ones to FORMER_TERMS', () => {
  const known = (Object.keys(SOLD) as (keyof typeof SOLD)[]).map((id) => [
    id,
    SOLD[id].every((sold) =>
      TERMS_SOLD.get(id)?.some(({ credits, priceCents }) => `${credits} for ${priceCents}` === sold),
    ),
  ]);
  expect(known).toEqual(Object.keys(SOLD).map((id) => [id, true]));
  expect([...TERMS_SOLD.keys()].toSorted()).toEqual(Object.keys(SOLD).toSorted());
});
