import { expect, it } from '@jest/globals';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { altered, correctedBook, exportOf, rechained } from '../../test/book.js';
import { BookVerifier } from './verify-book.js';
import { verifyExport } from './verify-export.js';

/** What both verifiers say of the first entry of a type, as somebody with the event store's login may have written it. */
const messagesOf = async (forge: (event: StoredEvent) => StoredEvent, type = 'GrantExpired') => {
  const { events } = await correctedBook();
  const index = events.findIndex((event) => event.type === type);
  const forged = rechained(events.with(index, forge(events[index]!)));
  const verifier = new BookVerifier(forged[0]!.stream, 10_000);
  for (const event of forged) verifier.see(event);
  const bytes = Buffer.from(await exportOf(forged));
  const of = (findings: readonly { readonly message: string }[]) => findings.map(({ message }) => message);
  const own = await verifyExport([bytes]);
  return {
    book: of(verifier.report().findings),
    file: of(own.findings),
    alone: of(verifyAlone(linesIn([bytes])).findings),
  };
};

const OTHER = 'a grant expires at another time than its own end';
const EARLY = 'a grant expires before its end';

it('An expiry that follows from its grant is right', async () => {
  expect(await messagesOf((event) => event)).toEqual({ book: [], file: [], alone: [] });
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
  const { book, file, alone } = await messagesOf(forge);
  expect([book[0], file[0], alone[0]]).toEqual([
    expect.stringContaining(message),
    expect.stringContaining(message),
    expect.stringContaining(message),
  ]);
});

it.each(['PlanGranted', 'PackPurchased'])(
  '%s for nothing is found, since no journal would show it',
  async (type) => {
    const messages = await messagesOf((event) => altered(event, { priceCents: 0 }), type);
    for (const [first] of Object.values(messages)) expect(first).toContain('credits are sold for nothing');
  },
);
