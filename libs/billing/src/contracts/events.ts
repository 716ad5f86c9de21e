import { z } from 'zod';
import { byWorkspace, event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
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
 * what the whole grant was sold for, or the value that a correction restores; 0 for other corrections.
 */
const grant = z.strictObject({
  grantId: z.string(),
  kind: z.enum(['plan', 'pack', 'adjustment']),
  credits,
  remaining: amount,
  held: amount,
  expiresAt: instant.nullable(),
  priceCents: amount,
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
/** Who acted: `operator:<name>`. */
const actor = z.string();
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
    1,
    z.strictObject({
      subscriptionId: z.string(),
      plan,
      anchorDay: z.int().min(1).max(31),
      startedAt: instant,
      approvalRef: z.string().nullable(),
      actor,
    }),
  ),
  /**
   * The new plan is granted from `effectiveAt` on: the next monthly grant. It also withdraws a cancellation that has not
   * taken effect.
   */
  SubscriptionChanged: event(
    1,
    z.strictObject({
      subscriptionId: z.string(),
      previousPlan: plan,
      plan,
      approvalRef: z.string().nullable(),
      effectiveAt: instant,
      actor,
    }),
  ),
  /**
   * No further grants. Granted credits stay until they expire. `effectiveAt` is the next grant, which then is not made,
   * or the time of the cancellation.
   */
  SubscriptionCancelled: event(
    1,
    z.strictObject({
      subscriptionId: z.string(),
      plan,
      effectiveAt: instant,
      reference: z.string().nullable(),
      actor,
    }),
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
  /** `grantId` is `pack:<orderRef>:<pack>`. */
  PackPurchased: event(
    1,
    z.strictObject({
      grantId: z.string(),
      pack: z.enum(PACK_IDS),
      orderRef: z.string(),
      credits,
      priceCents: amount,
      actor,
    }),
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
   * `reference`: the operator's, such as INC-42. `actor`: who asked for it. `correctionId`: the proposal that two operators
   * signed.
   *
   * `signed`: the signatures (Ed25519, base64) of `actor` and `approvedBy` over `signedText` of this entry, whose other
   * members are all here; `grantId` is the one grant that they let it take credits from. Only the entry of a document that
   * failed has none.
   *
   * `restores`: the entry gives back what the reversed entry took from these grants, with this much of its value.
   *
   * `counts`: the value is no correction. It is a refund of the grant `of`, which was sold; or it was earned by the capture
   * `of`, or lapsed with the expiry or release `of`. So does what takes it, and what gives it back.
   */
  CreditsAdjusted: event(
    1,
    z.strictObject({
      adjustmentId: z.string(),
      amount: z.int(),
      allocations: z.array(z.strictObject({ grantId: z.string(), amount: z.int() })),
      reason: z.string().min(1),
      approvedBy: z.string().min(1),
      reversesEventId: z.string().nullable(),
      expiresAt: instant.optional(),
      reference: z.string(),
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
  ),
  /**
   * A part of what the close of a month carries, when it is too much for one event. The parts stand right before the
   * close, without another entry between them. `part` counts from 0. Each list continues that of the part before.
   */
  PeriodCarried: event(1, z.strictObject({ period: month, part: amount, ...carriedItems })),
  /**
   * Closes the books of a month and carries the whole folded state, so earlier events need not be read. The hash of the
   * closed ledger is the `chain` in this event's own metadata.
   *
   * `carried`: the parts before this event carry all lists, and the lists here are empty. `digest` is the lowercase hex
   * SHA-256 over the parts: of the digest so far (of none: the empty text) and the canonical JSON of the next part's data.
   */
  PeriodClosed: event(
    1,
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
  ),
});

/**
 * Stream `testbook-<workspaceId>`: the book of a workspace's test readings. It has the same events. No reader of the live
 * books meets it, because its category is another one.
 */
export const testBookEvents: typeof creditsEvents = { ...creditsEvents, category: 'testbook' };

/** The category of the streams of all live or test books. */
export const booksOf = (livemode: boolean): string => (livemode ? creditsEvents : testBookEvents).category;

/** The stream of a workspace's live or test book. */
export const bookStream = (workspaceId: string, livemode: boolean): string =>
  streamName(booksOf(livemode), workspaceId);

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

/**
 * Stream `orderline-<id>`: which workspace a pack of an order belongs to. The id follows from order and pack, so that one
 * line is granted once in the whole installation.
 */
export const orderLineEvents = eventCatalogue('orderline', {
  /** Before the pack is granted. `grantId`: its grant in the book of the workspace. */
  OrderLineClaimed: event(
    1,
    z.strictObject({
      orderRef: z.string().min(1),
      pack: z.enum(PACK_IDS),
      workspaceId: z.string(),
      grantId: z.string(),
    }),
  ),
});
export type OrderLineEvent = EventOf<typeof orderLineEvents>;
