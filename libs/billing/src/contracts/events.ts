import { z } from 'zod';
import { byWorkspace, event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { PACK_IDS, PLAN_IDS } from './catalogue.js';

/**
 * Accounts of a book. Each event moves credits from one to another (see `postings`), so their sum is always zero.
 * Issued or adjusted credits are negative; their present accounts are positive.
 */
export const ACCOUNTS = [
  'issued:plan',
  'issued:pack',
  'adjusted',
  'available',
  'held',
  'consumed',
  'expired',
] as const;
export type Account = (typeof ACCOUNTS)[number];

const credits = z.int().positive();
const amount = z.int().nonnegative();
const instant = z.iso.datetime({ precision: 3 });
/** A calendar month in UTC. */
const month = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/);
const plan = z.enum(PLAN_IDS);

const allocation = z.strictObject({ grantId: z.string(), amount: credits });
const hold = z.strictObject({
  reservationId: z.string(),
  readingId: z.string(),
  amount: credits,
  allocations: z.array(allocation),
});
/**
 * `remaining` can be reserved; `held` is in open holds. A grant with both at 0 is used up and dropped. `priceCents` is
 * what the whole grant was sold for, or the value that a correction restores; 0 for other corrections. `null` when a version
 * without prices closed the month before.
 */
const grant = z.strictObject({
  grantId: z.string(),
  kind: z.enum(['plan', 'pack', 'adjustment']),
  credits,
  remaining: amount,
  held: amount,
  expiresAt: instant.nullable(),
  priceCents: amount.nullable(),
});
const subscription = z.strictObject({
  subscriptionId: z.string(),
  plan,
  /** Day of the month (UTC) on which credits are granted; the last day in shorter months. */
  anchorDay: z.int().min(1).max(31),
  nextGrantAt: instant,
  /** The plan from the next grant on, when it changes. */
  nextPlan: plan.optional(),
  /** Cancelled: no grant from here on. */
  endsAt: instant.optional(),
});
/** Who acted: `operator:<name>`. `null` in entries of versions that did not record it. */
const actor = z.string().nullable();
/** An older version did not record when a change of a subscription takes effect, nor who made it. */
const withoutActor = (data: unknown): unknown => ({ ...(data as object), actor: null });
const withoutDate = (data: unknown): unknown => ({ ...(data as object), effectiveAt: null, actor: null });
const unchanged = (data: unknown): unknown => data;
/** Older versions carried everything themselves. */
const inOnePiece = (data: unknown): unknown => ({ ...(data as object), carried: null });
/** Corrections were never sold. The price of any other open grant stands only in the event that granted it. */
const withoutPrices = (data: unknown): unknown => {
  const closed = data as { readonly openGrants: readonly { readonly kind: string }[] };
  const openGrants = closed.openGrants.map((one) => ({
    ...one,
    priceCents: one.kind === 'adjustment' ? 0 : null,
  }));
  return { ...closed, openGrants };
};
const accounts = z.record(z.enum(ACCOUNTS), z.int());
const totals = z.record(z.enum(ACCOUNTS), z.strictObject({ debit: amount, credit: amount }));
/** What is open at the end of a month, and what a book must remember. */
const carriedItems = {
  openGrants: z.array(grant),
  openHolds: z.array(hold),
  /** Reservations settled recently, in two generations. Repeating one of them must not hold credits again. */
  settled: z.strictObject({ older: z.array(z.string()), newer: z.array(z.string()) }),
  /** Order lines of packs: their grant ids without `pack:`. */
  orderRefs: z.array(z.string()),
  adjustmentIds: z.array(z.string()),
};

/**
 * Stream `credits-<workspaceId>`: the credit book of one workspace. Amounts are whole credits, prices US cents,
 * instants RFC 3339 in UTC with milliseconds.
 */
export const creditsEvents = eventCatalogue(byWorkspace('credits'), {
  /** `period`: the book's first month. */
  BookOpened: event(1, z.strictObject({ workspaceId: z.string(), period: month })),
  SubscriptionStarted: event(
    2,
    z.strictObject({
      subscriptionId: z.string(),
      plan,
      anchorDay: z.int().min(1).max(31),
      startedAt: instant,
      approvalRef: z.string().nullable(),
      actor,
    }),
    { 1: withoutActor },
  ),
  /**
   * The new plan is granted from `effectiveAt` on: the next monthly grant. It also withdraws a cancellation that has not
   * taken effect. Version 1 has no date.
   */
  SubscriptionChanged: event(
    2,
    z.strictObject({
      subscriptionId: z.string(),
      previousPlan: plan,
      plan,
      approvalRef: z.string().nullable(),
      effectiveAt: instant.nullable(),
      actor,
    }),
    { 1: withoutDate },
  ),
  /**
   * No further grants. Granted credits stay until they expire. `effectiveAt` is the next grant, which then is not made,
   * or the time of the cancellation. Version 1, without it, took effect at once.
   */
  SubscriptionCancelled: event(
    2,
    z.strictObject({
      subscriptionId: z.string(),
      plan,
      effectiveAt: instant.nullable(),
      reference: z.string().nullable(),
      actor,
    }),
    { 1: (data) => ({ ...(withoutDate(data) as object), reference: null }) },
  ),
  /** `grantId` is `plan:<subscription>:<yyyy-mm>`. */
  PlanGranted: event(
    1,
    z.strictObject({
      grantId: z.string(),
      plan,
      credits,
      validFrom: instant,
      expiresAt: instant,
      priceCents: amount,
    }),
  ),
  /** `grantId` is `pack:<orderRef>:<pack>`; in version 1 `pack:<orderRef>`. */
  PackPurchased: event(
    2,
    z.strictObject({
      grantId: z.string(),
      pack: z.enum(PACK_IDS),
      orderRef: z.string(),
      credits,
      priceCents: amount,
      actor,
    }),
    { 1: withoutActor },
  ),
  CreditsReserved: event(1, hold),
  /** `causeEventId`: the ReadingCompleted that earned the credits. */
  CreditsCaptured: event(
    1,
    z.strictObject({
      reservationId: z.string(),
      readingId: z.string(),
      amount: credits,
      causeEventId: z.string(),
    }),
  ),
  /** Credits of a grant that expired while they were held move to `expired`. */
  CreditsReleased: event(
    1,
    z.strictObject({
      reservationId: z.string(),
      readingId: z.string(),
      amount: credits,
      allocations: z.array(
        z.strictObject({ grantId: z.string(), amount: credits, to: z.enum(['available', 'expired']) }),
      ),
      causeEventId: z.string(),
    }),
  ),
  GrantExpired: event(1, z.strictObject({ grantId: z.string(), amount: credits, expiredAt: instant })),
  /**
   * A correction is a new entry. A positive amount is a grant of its own (`adjustment:<id>`), which expires at
   * `expiresAt`, if at all. A negative amount is taken from one grant, or from the grants in burn order. Allocations have
   * the sign of the amount.
   *
   * `reference`: the operator's, such as INC-42. `actor`: who asked for it. Both are `null` in entries of version 1, which
   * had no expiry either. `correctionId`: the proposal that two operators signed; versions 1 and 2 had none.
   *
   * `signed`: the signatures (Ed25519, base64) of `actor` and `approvedBy` over `signedText` of this entry, whose other
   * members are all here; `grantId` is the one grant that they let it take credits from. Only the entry of a document that
   * failed has none.
   *
   * `restores`: the entry gives back what the reversed entry took from these grants, with this much of its value. In version
   * 4, only the reversal of a pack's refund did so; before, none did.
   *
   * `counts`: the value is no correction. It is a refund of the grant `of`, which was sold; or it was earned by the capture
   * `of`, or lapsed with the expiry or release `of`. So does what takes it, and what gives it back. Before version 5, all
   * counted as corrections.
   */
  CreditsAdjusted: event(
    5,
    z.strictObject({
      adjustmentId: z.string(),
      amount: z.int(),
      allocations: z.array(z.strictObject({ grantId: z.string(), amount: z.int() })),
      reason: z.string().min(1),
      approvedBy: z.string().min(1),
      reversesEventId: z.string().nullable(),
      expiresAt: instant.optional(),
      reference: z.string().nullable(),
      actor,
      correctionId: z.string().optional(),
      signed: z
        .strictObject({ grantId: z.string().nullable(), proposer: z.string(), approver: z.string() })
        .optional(),
      restores: z.strictObject({ grantIds: z.array(z.string()).min(1), priceCents: amount }).optional(),
      counts: z
        .strictObject({ as: z.enum(['refunds', 'earned', 'breakage']), of: z.string().min(1) })
        .optional(),
    }),
    {
      1: (data) => ({ ...(data as object), reference: null, actor: null }),
      2: unchanged,
      3: unchanged,
      4: unchanged,
    },
  ),
  /**
   * A part of what the close of a month carries, when it is too much for one event. The parts stand right before the
   * close, without another entry between them. `part` counts from 0. Each list continues that of the part before.
   */
  PeriodCarried: event(1, z.strictObject({ period: month, part: amount, ...carriedItems })),
  /**
   * Closes the books of a month and carries the whole folded state, so earlier events need not be read. The hash of the
   * closed ledger is the `chain` in this event's own metadata. Version 1 had no prices of the open grants; version 2 no
   * planned end or change of the subscription; version 3 no parts.
   *
   * `carried`: the parts before this event carry all lists, and the lists here are empty. `digest` is the lowercase hex
   * SHA-256 over the parts: of the digest so far (of none: the empty text) and the canonical JSON of the next part's data.
   */
  PeriodClosed: event(
    4,
    z.strictObject({
      workspaceId: z.string(),
      period: month,
      opening: accounts,
      /** What left each account (debit) and entered it (credit) in the period. */
      totals,
      closing: accounts,
      subscription: subscription.nullable(),
      /** Number of subscriptions ever started. */
      subscriptions: amount,
      ...carriedItems,
      /** Number of events in the stream before this one; also its revision. */
      eventCount: amount,
      carried: z
        .strictObject({ parts: z.int().positive(), digest: z.string().regex(/^[0-9a-f]{64}$/) })
        .nullable(),
    }),
    { 1: withoutPrices, 2: unchanged, 3: inOnePiece },
  ),
});

export type CreditsEvent = EventOf<typeof creditsEvents>;
export type CreditsEventOf<T extends CreditsEvent['type']> = Extract<CreditsEvent, { type: T }>;
export type Allocation = z.infer<typeof allocation>;
export type Hold = z.infer<typeof hold>;
export type Grant = z.infer<typeof grant>;
export type Subscription = z.infer<typeof subscription>;
/** The lists that the close of a month carries, itself or in parts. */
export type CarriedItems = Pick<CreditsEventOf<'PeriodClosed'>['data'], keyof typeof carriedItems>;
export type Accounts = Readonly<Record<Account, number>>;
export type Totals = Readonly<Record<Account, { readonly debit: number; readonly credit: number }>>;
