import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Command, Query } from '#platform/cqrs/message.js';

/** Entries of one correction: in one book, an append takes as many. */
export const MOST_ENTRIES = 500;

const instant = z.iso.datetime({ precision: 3 });
const entry = z.strictObject({
  workspaceId: z.string(),
  /** Signed credits. */
  amount: z.int().refine((credits) => credits !== 0),
  reason: z.string().min(1),
  reference: z.string().min(1),
  /** The entry of the same book that it reverses. */
  reversesEventId: z.string().nullable(),
  /** For a negative amount: the grant to take from; `null`: in burn order. */
  grantId: z.string().nullable(),
  /** For a positive amount: when the credits expire; `null`: never. */
  expiresAt: instant.nullable(),
});
export type CorrectionEntry = z.infer<typeof entry>;

/** An operator, and a signature (base64, Ed25519) of each entry in its order. */
const signed = { operator: z.string().min(1), signatures: z.array(z.string()).min(1).max(MOST_ENTRIES) };

/**
 * Stream `correction-<id>`: a change of credit books that one operator proposes and another one approves. Both sign the
 * same text of each entry. The id follows from kind and reference, so a repeated command finds its proposal. Each entry of
 * a book carries its signatures; the stream shows that the correction had not ended when they were used.
 */
export const correctionEvents = eventCatalogue('correction', {
  /** `expiresAt`: it is approved and booked before. */
  CorrectionProposed: event(
    1,
    z.strictObject({
      correctionId: z.string(),
      kind: z.enum(['adjustment', 'reversal', 'pack_refund', 'reading_refund']),
      reason: z.string().min(1),
      reference: z.string().min(1),
      entries: z.array(entry).min(1).max(MOST_ENTRIES),
      expiresAt: instant,
      ...signed,
    }),
  ),
  CorrectionApproved: event(1, z.strictObject({ correctionId: z.string(), ...signed })),
  CorrectionRejected: event(1, z.strictObject({ correctionId: z.string(), reason: z.string().min(1) })),
});

export type CorrectionEvent = EventOf<typeof correctionEvents>;
export type CorrectionData<T extends CorrectionEvent['type']> = Extract<CorrectionEvent, { type: T }>['data'];
export type CorrectionKind = CorrectionData<'CorrectionProposed'>['kind'];

export type CorrectionStatus = 'proposed' | 'approved' | 'booked' | 'rejected' | 'expired';

/** The value that an entry moves out of the deferred value. */
export interface EntryValue {
  /** `refunds`: to be paid back. */
  readonly as: 'earned' | 'breakage' | 'corrections' | 'refunds';
  /** The grant that was sold, or the id of the capture, expiry or release; `null`: of none of these. */
  readonly of: string | null;
  /** Negative: it comes back. */
  readonly cents: number;
}

export interface Correction extends Omit<
  CorrectionData<'CorrectionProposed'>,
  'entries' | 'operator' | 'signatures'
> {
  readonly status: CorrectionStatus;
  /** Sum of the amounts without their signs. */
  readonly credits: number;
  readonly entries: readonly (CorrectionEntry & {
    readonly booked: boolean;
    /** As booked, or as the book would take it now; `null`: it would not, or in a list. */
    readonly value: EntryValue | null;
  })[];
  readonly proposedBy: string;
  readonly approvedBy: string | null;
  readonly rejected: string | null;
}

/**
 * `already`: recorded by an earlier run of the command. `refusals`: of books, which take all of their entries or none.
 * Each refusal is one sentence without its full stop.
 */
export type CorrectionResult =
  | {
      readonly outcome: 'recorded' | 'already' | 'booked' | 'incomplete';
      readonly correction: Correction;
      readonly refusals: readonly string[];
    }
  | { readonly outcome: 'refused'; readonly refusal: string };

/** A proposal that a book would refuse is refused. An approval also books the entries, once, however often it is sent. */
export class RecordCorrection extends Command<CorrectionResult> {
  constructor(
    readonly event: CorrectionEvent,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** The correction with this id, if there is one; `null`: all of them, newest first, without values. */
export class FindCorrections extends Query<readonly Correction[]> {
  constructor(readonly correctionId: string | null = null) {
    super();
  }
}

/** An entry of a book that a correction may reverse. Credits are signed. */
export interface ReversibleEntry {
  readonly eventId: string;
  readonly type: string;
  /** What corrections may give back (positive) or take back (negative) in all. */
  readonly reversible: number;
  readonly reversed: number;
  /** The grant that it made, with what is left: `unused` is neither used nor held. `null`: none. */
  readonly grant: (Record<'credits' | 'unused' | 'held', number> & { readonly grantId: string }) | null;
}

/** The entry with this id, the pack of this order, or the capture of this reading. `null` when the book has no such entry. */
export class FindReversible extends Query<ReversibleEntry | null> {
  constructor(
    readonly workspaceId: string,
    readonly entry: { eventId: string } | { orderRef: string; pack: string } | { readingId: string },
  ) {
    super();
  }
}

/** An entry that no two operators signed, or that does not follow from its cause. */
export interface CorrectionFinding {
  readonly stream: string;
  readonly revision: bigint;
  readonly message: string;
}

/** An entry that no two operators signed, and that signed corrections took back completely. It is no finding. */
export interface CompensatedEntry extends CorrectionFinding {
  /** Id of the correction that took back the last of it. */
  readonly compensatedBy: string;
}
