import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '@app/event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Command, Query } from '@app/platform/cqrs/message.js';
import type { Progress } from './audit.js';
import type { CompensatedEntry, CorrectionFinding } from './audited-corrections.js';
import { instant, operatorName, sha256, signed, type Signed } from './signed.js';

/** What a correction is made for. All kinds book entries `CreditsAdjusted`. */
export const CORRECTION_KINDS = [
  'adjustment',
  'reversal',
  'pack_refund',
  'reading_refund',
  'date_repair',
] as const;
export type CorrectionKind = (typeof CORRECTION_KINDS)[number];

/** Entries of one correction. */
export const MOST_ENTRIES = 1_000;

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
  /** Book it no earlier; `null`: at once. */
  notBefore: instant.nullable(),
});
export type CorrectionEntry = z.infer<typeof entry>;

const ending = {
  correctionId: z.string(),
  proposal: sha256,
  reason: z.string().min(1),
  ...signed,
};

/**
 * Stream `correction-<id>`: a change of credit books that one operator proposes and another one approves. Both sign. The
 * id follows from kind and reference, so a repeated command finds its proposal. A proposal that was withdrawn, rejected,
 * or has expired may be followed by another one.
 */
export const correctionEvents = eventCatalogue('correction', {
  /** `expiresAt`: an approval comes before. */
  CorrectionProposed: event(
    1,
    z.strictObject({
      correctionId: z.string(),
      kind: z.enum(CORRECTION_KINDS),
      reason: z.string().min(1),
      reference: z.string().min(1),
      entries: z.array(entry).min(1).max(MOST_ENTRIES),
      expiresAt: instant,
      ...signed,
    }),
  ),
  /** `proposal`: the digest of what the proposer signed. */
  CorrectionApproved: event(1, z.strictObject({ correctionId: z.string(), proposal: sha256, ...signed })),
  CorrectionRejected: event(1, z.strictObject(ending)),
  /** By the proposer. */
  CorrectionWithdrawn: event(1, z.strictObject(ending)),
  /** Entries that are in their books, by position. */
  CorrectionBooked: event(
    1,
    z.strictObject({
      correctionId: z.string(),
      proposal: sha256,
      positions: z.array(z.int().nonnegative()).min(1),
    }),
  ),
});

export type CorrectionEvent = EventOf<typeof correctionEvents>;
export type CorrectionEventOf<T extends CorrectionEvent['type']> = Extract<CorrectionEvent, { type: T }>;
/** What an operator signs. */
export type SignedCorrectionEvent = Exclude<CorrectionEvent, { type: 'CorrectionBooked' }>;

/**
 * Stream `correctionday-<yyyy-mm-dd>` (UTC): what operators were about to sign on a day, for the daily limit and for lists.
 * Nothing here is signed: the corrections themselves say what counts.
 */
export const correctionDayEvents = eventCatalogue('correctionday', {
  /** Before the signature is recorded. `credits`: sum of the amounts without their signs. */
  CorrectionCounted: event(
    1,
    z.strictObject({
      correctionId: z.string(),
      operator: operatorName,
      act: z.enum(['proposed', 'approved']),
      credits: z.int().positive(),
    }),
  ),
});
export type CorrectionDayEvent = EventOf<typeof correctionDayEvents>;

/** Why nothing was recorded or booked. */
export type CorrectionRefusal =
  /** `limit`: a setting, or `maxCredits` of the operator. `used`: of the day. */
  | {
      readonly code: 'above_limit';
      readonly limit: string;
      readonly value: number;
      readonly credits: number;
      readonly used: number;
    }
  | { readonly code: 'not_trusted'; readonly operator: string }
  | { readonly code: 'same_person'; readonly operator: string }
  | { readonly code: 'not_proposer'; readonly operator: string }
  | { readonly code: 'bad_signature' | 'bad_expiry' | 'stale' | 'unknown' }
  /** The credits of the day may have changed since the command counted them. */
  | { readonly code: 'too_slow' }
  /** Another correction of this kind has the reference. */
  | { readonly code: 'reference_in_use'; readonly status: CorrectionStatus }
  | { readonly code: 'wrong_status'; readonly status: CorrectionStatus }
  /** More entries, or bytes of the proposal, than the event store takes at once. */
  | TooLarge<'too_large', 'entries' | 'bytes'>
  | BookRefusal;

interface TooLarge<Code extends string, Unit extends string> {
  readonly code: Code;
  readonly unit: Unit;
  readonly size: number;
  readonly most: number;
}

/** A book that does not take the entries. Credits are signed. */
export type BookRefusal = { readonly workspaceId: string } & (
  | { readonly code: 'book_not_open' | 'busy' }
  /** The book has an entry of an earlier proposal of this correction, which would be repeated. */
  | { readonly code: 'booked_before' }
  /** The event store takes all entries of a book at once, or none. */
  | TooLarge<'book_too_large', 'bytes'>
  | { readonly code: 'insufficient'; readonly required: number; readonly available: number }
  | { readonly code: 'nothing_to_reverse'; readonly eventId: string }
  | {
      readonly code: 'reversal_exceeded';
      readonly eventId: string;
      /** What may be reversed in all, and what was reversed before. */
      readonly original: number;
      readonly reversed: number;
    }
);

export type CorrectionStatus = 'proposed' | 'approved' | 'booked' | 'rejected' | 'withdrawn' | 'expired';

/** The value that an entry moves out of the deferred value. */
export interface EntryValue {
  /** A figure of `Money`. `refunds`: to be paid back. */
  readonly as: 'earned' | 'breakage' | 'corrections' | 'refunds';
  /** The grant that was sold, or the id of the capture, expiry or release; `null`: of none of these. */
  readonly of: string | null;
  /** Negative: it comes back. */
  readonly cents: number;
}

export interface Correction {
  readonly correctionId: string;
  readonly status: CorrectionStatus;
  readonly kind: CorrectionKind;
  readonly reason: string;
  readonly reference: string;
  /** Sum of the amounts without their signs: what limits count. */
  readonly credits: number;
  readonly entries: readonly (CorrectionEntry & {
    readonly booked: boolean;
    /** As booked, or as the book would take it now; `null`: it would not, or in a list. */
    readonly value: EntryValue | null;
  })[];
  readonly expiresAt: string;
  /** Digest of the proposal: what both operators signed. */
  readonly proposal: string;
  readonly proposed: Signed;
  readonly approved: Signed | null;
  /** Rejected or withdrawn. */
  readonly ended: (Signed & { readonly reason: string }) | null;
}

/** `already`: recorded by an earlier run of the command. */
export type RecordCorrectionResult =
  | { readonly outcome: 'recorded' | 'already'; readonly correction: Correction }
  | { readonly outcome: 'refused'; readonly refusal: CorrectionRefusal };

/** Records what an operator signed. A proposal that a book would refuse is refused. */
export class RecordCorrection extends Command<RecordCorrectionResult> {
  constructor(
    readonly statement: SignedCorrectionEvent,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** `later`: positions whose day has not come. */
export type BookCorrectionResult =
  | {
      readonly outcome: 'booked' | 'incomplete';
      readonly correction: Correction;
      readonly refusals: readonly BookRefusal[];
      readonly later: readonly number[];
    }
  | { readonly outcome: 'refused'; readonly refusal: CorrectionRefusal };

/**
 * Books what an approved correction has due, once, however often it is repeated. In each book, all of its entries that
 * are due, or none.
 */
export class BookCorrection extends Command<BookCorrectionResult> {
  constructor(
    readonly correctionId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export class GetCorrection extends Query<Correction | null> {
  constructor(readonly correctionId: string) {
    super();
  }
}

/** Corrections signed in the last days (UTC), newest first. */
export class ListCorrections extends Query<readonly Correction[]> {
  constructor(readonly days: number) {
    super();
  }
}

export interface CorrectionsReport {
  readonly operators: number;
  readonly corrections: number;
  /** Entries `CreditsAdjusted` that two operators signed, and those from before there were operators. */
  readonly signedEntries: number;
  readonly earlierEntries: number;
  /** Entries that give back the credits of readings whose document was given up: no operator signs them. */
  readonly documentRefunds: number;
  /** Events passed over, because operators quarantined them. */
  readonly quarantined: number;
  readonly findings: readonly CorrectionFinding[];
  readonly compensated: readonly CompensatedEntry[];
}

/** Checks every signature in the log, and that each correction of a book was signed by two operators. */
export class VerifyCorrections extends Query<CorrectionsReport> {
  constructor(
    /** SHA-256 of the keys that need no other operator. */
    readonly rootKeys: readonly string[],
    readonly progress?: Progress,
  ) {
    super();
  }
}

/** An entry of a book that a correction may reverse. Credits are signed. */
export interface ReversibleEntry {
  readonly eventId: string;
  readonly type: string;
  /** What corrections may give back (positive) or take back (negative) in all. */
  readonly reversible: number;
  /** Sum of the corrections so far. */
  readonly reversed: number;
  /** Of a grant; `null` otherwise. */
  readonly grant: {
    readonly grantId: string;
    readonly credits: number;
    /** Neither used nor held. */
    readonly unused: number;
    /** By readings that have not ended. */
    readonly held: number;
  } | null;
}

/** The entry with this id, the pack of this order, or the capture of this reading. `null` when the book has no such entry. */
export class FindReversible extends Query<ReversibleEntry | null> {
  constructor(
    readonly workspaceId: string,
    readonly entry:
      | { readonly eventId: string }
      | { readonly orderRef: string; readonly pack: string }
      | { readonly readingId: string },
  ) {
    super();
  }
}
