import type { EventOf } from '@app/event-sourcing/core/event-catalogue.js';
import type { CATALOGUES } from './catalogues.js';

type Catalogues = typeof CATALOGUES;
type AnyEvent = { [C in keyof Catalogues]: EventOf<Catalogues[C]> }[keyof Catalogues];
type Samples = { readonly [T in AnyEvent['type']]: Extract<AnyEvent, { type: T }>['data'] };

const workspaceId = 'ws_4f1c7d2a9b3e4d5f8a6b7c8d9e0f1a2b';
const readingId = '5b0c8f9e-6a5d-8c3b-9f2e-1d4c7b6a5e8f';
const reservationId = '0e1d2c3b-4a59-5687-9786-a5b4c3d2e1f0';
const secretRef = '6f9619ff-8b86-4d11-b42d-00c04fc964ff';
const artifactId = 'art_9d3f6c1e-2b4a-5e7d-8c9f-0a1b2c3d4e5f';
const causeEventId = '3c2b1a09-f8e7-5d6c-ab4a-392817061524';
const at = '2026-09-29T08:00:00.000Z';
const correctionId = '4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f';
const PUBLIC_KEY = Buffer.from('a public key').toString('base64');
const signed = {
  at,
  signedBy: { operator: 'ada', keySha256: 'a3'.repeat(32) },
  signature: Buffer.from('a signature').toString('base64'),
};
const noCredits = {
  'issued:plan': 0,
  'issued:pack': 0,
  adjusted: 0,
  available: 0,
  held: 0,
  consumed: 0,
  expired: 0,
};
const hold = {
  reservationId,
  readingId,
  amount: 20,
  allocations: [{ grantId: 'plan:sub1:2026-09', amount: 20 }],
};
const testHold = { reservationId, readingId, amount: 20 };
const carriedItems = {
  openGrants: [
    {
      grantId: 'plan:sub1:2026-09',
      kind: 'plan' as const,
      credits: 400,
      remaining: 360,
      held: 20,
      expiresAt: '2026-10-29T00:00:00.000Z',
      priceCents: 14_900,
    },
  ],
  openHolds: [hold],
  settled: { older: [], newer: [secretRef] },
  orderRefs: ['INV-2026-0042'],
  adjustmentIds: ['adj_7'],
};
const sum = (debit: number, credit: number) => ({ debit, credit });

/** The current data of one event of each type, with every field set. A missing type does not compile. */
export const SAMPLES: Samples = {
  WorkspaceOpened: { workspaceId, name: 'Atelier Lumière' },
  ApiKeyIssued: {
    keyId: 'Ab3dE6gH',
    hash: 'a3'.repeat(32),
    label: 'production',
    expiresAt: '2027-09-29T08:00:00.000Z',
    mode: 'test',
    scopes: ['readings:read', 'readings:write'],
    networks: ['203.0.113.0/24', '2001:db8::/32'],
    replaces: 'Zz9yX8wV',
  },
  ApiKeyRevoked: { keyId: 'Ab3dE6gH', reason: 'leaked' },

  EventQuarantined: {
    stream: `reading-${readingId}`,
    revision: '3',
    eventId: causeEventId,
    eventType: 'ReadingCompleted',
    consumers: ['billing.settlement.v1'],
    cause: 'attempt: invalid_type',
    reason: 'written by a broken script, INC-42',
    until: at,
  },
  QuarantineWithdrawn: { stream: `reading-${readingId}`, revision: '3', reason: 'understood since 2.4' },

  ReadingRequested: {
    workspaceId,
    livemode: true,
    productId: 'theme',
    profileId: 'evan',
    locale: 'fr-FR',
    asOf: '2026-09-29',
    sealedInput: Buffer.from('sealed input').toString('base64'),
    cost: 20,
    reservationId,
  },
  ReadingStarted: { attempt: 1, workerId: `worker-${secretRef}`, leaseUntil: '2026-09-29T08:01:00.000Z' },
  ReadingAttemptFailed: { attempt: 1, code: 'generation_failed', retryAt: '2026-09-29T08:00:02.000Z' },
  ReadingDelayed: { workspaceId, livemode: true, attempts: 1 },
  ReadingCompleted: {
    workspaceId,
    livemode: true,
    attempt: 2,
    reservationId,
    sealedResult: Buffer.from('sealed result').toString('base64'),
  },
  ReadingFailed: { workspaceId, livemode: true, code: 'timed_out', attempts: 5, reservationId },
  ReadingAbandoned: {
    workspaceId,
    livemode: true,
    reservationId,
    reason: 'no reading was requested in time',
  },
  ReadingErased: { workspaceId },

  PublicationRequested: { workspaceId, livemode: true, version: 1, artifactId, publishedAt: at },
  DocumentPublished: {
    workspaceId,
    livemode: true,
    version: 1,
    artifactId,
    formats: [
      { format: 'document_v1', mediaType: 'application/json', digest: '5f'.repeat(32), bytes: 65_536 },
      {
        format: 'markdown',
        mediaType: 'text/markdown; charset=utf-8',
        digest: '60'.repeat(32),
        bytes: 32_768,
      },
      { format: 'pdf', mediaType: 'application/pdf', digest: '71'.repeat(32), bytes: 262_144 },
    ],
    publishedAt: at,
  },
  PublicationFailed: { workspaceId, version: 1, code: 'internal_error' },
  PublicationWithdrawn: { workspaceId },

  BookOpened: { workspaceId, period: '2026-09' },
  SubscriptionStarted: {
    subscriptionId: 'sub1',
    plan: 'access_local',
    anchorDay: 29,
    startedAt: at,
    approvalRef: 'APPROVAL-7',
    actor: 'operator:ada',
  },
  SubscriptionChanged: {
    subscriptionId: 'sub1',
    previousPlan: 'access_local',
    plan: 'studio',
    approvalRef: null,
    effectiveAt: at,
    actor: 'operator:ada',
  },
  SubscriptionCancelled: {
    subscriptionId: 'sub1',
    plan: 'studio',
    effectiveAt: at,
    reference: 'TICKET-9',
    actor: 'operator:ada',
  },
  PlanGranted: {
    grantId: 'plan:sub1:2026-09',
    plan: 'studio',
    credits: 400,
    validFrom: at,
    expiresAt: '2026-10-29T00:00:00.000Z',
    priceCents: 14_900,
  },
  PackPurchased: {
    grantId: 'pack:INV-2026-0042:sprint',
    pack: 'sprint',
    orderRef: 'INV-2026-0042',
    credits: 200,
    priceCents: 9_900,
    actor: 'operator:ada',
  },
  TestBookFilled: {
    workspaceId,
    day: '2026-09-29',
    amount: 40,
    available: 9_980,
    consumed: 40,
    openHolds: [testHold],
    settled: { older: [], newer: [secretRef] },
  },
  TestCreditsReserved: testHold,
  TestCreditsCaptured: { ...testHold, causeEventId },
  TestCreditsReleased: { ...testHold, causeEventId },
  CreditsReserved: hold,
  CreditsCaptured: { reservationId, readingId, amount: 20, causeEventId },
  CreditsReleased: {
    reservationId,
    readingId,
    amount: 20,
    allocations: [
      { grantId: 'plan:sub1:2026-09', amount: 15, to: 'expired' },
      { grantId: 'pack:INV-2026-0042', amount: 5, to: 'available' },
    ],
    causeEventId,
  },
  GrantExpired: { grantId: 'plan:sub1:2026-09', amount: 35, expiredAt: '2026-10-29T00:00:00.000Z' },
  CreditsAdjusted: {
    adjustmentId: 'adj_7',
    amount: 20,
    allocations: [{ grantId: 'adjustment:adj_7', amount: 20 }],
    reason: 'expired too early',
    approvedBy: 'operator:finance',
    reversesEventId: causeEventId,
    expiresAt: '2026-11-29T00:00:00.000Z',
    reference: 'INC-42',
    actor: 'operator:ada',
    correctionId,
    restores: { grantIds: ['pack:INV-2026-0042:sprint'], priceCents: 990 },
  },
  PeriodCarried: { period: '2026-09', part: 1, ...carriedItems },
  PeriodClosed: {
    workspaceId,
    period: '2026-09',
    opening: noCredits,
    totals: {
      'issued:plan': sum(400, 0),
      'issued:pack': sum(0, 0),
      adjusted: sum(0, 0),
      available: sum(40, 400),
      held: sum(20, 40),
      consumed: sum(0, 20),
      expired: sum(0, 0),
    },
    closing: { ...noCredits, 'issued:plan': -400, available: 360, held: 20, consumed: 20 },
    subscription: {
      subscriptionId: 'sub1',
      plan: 'studio',
      anchorDay: 29,
      nextGrantAt: '2026-10-29T00:00:00.000Z',
      nextPlan: 'pro',
      endsAt: '2026-10-29T00:00:00.000Z',
    },
    subscriptions: 1,
    ...carriedItems,
    eventCount: 6,
    carried: { parts: 2, digest: 'e7'.repeat(32) },
  },

  OrderLineClaimed: {
    orderRef: 'INV-2026-0042',
    pack: 'sprint',
    workspaceId,
    grantId: 'pack:INV-2026-0042:sprint',
  },
  EarlierOrdersClaimed: { lines: 7 },
  OperatorAdded: {
    operator: 'ada',
    publicKey: PUBLIC_KEY,
    roles: ['propose', 'approve', 'manage'],
    maxCredits: 500,
    previous: '0'.repeat(64),
    ...signed,
  },
  OperatorConfirmed: { operator: 'grace', keySha256: 'b4'.repeat(32), previous: 'c5'.repeat(32), ...signed },
  OperatorRevoked: {
    operator: 'grace',
    keySha256: 'b4'.repeat(32),
    reason: 'laptop stolen',
    previous: 'c5'.repeat(32),
    ...signed,
  },
  OperatorKeyRotated: {
    operator: 'ada',
    keySha256: 'a3'.repeat(32),
    publicKey: PUBLIC_KEY,
    previous: 'c5'.repeat(32),
    ...signed,
  },
  CorrectionProposed: {
    correctionId,
    kind: 'date_repair',
    reason: 'A clock was wrong',
    reference: 'INC-42',
    entries: [
      {
        workspaceId,
        amount: -20,
        reason: 'granted too early',
        reference: 'INC-42',
        reversesEventId: causeEventId,
        grantId: 'plan:sub1:2026-09',
        expiresAt: '2026-10-29T00:00:00.000Z',
        notBefore: '2026-09-30T00:00:00.000Z',
      },
    ],
    expiresAt: '2026-10-06T08:00:00.000Z',
    ...signed,
  },
  CorrectionApproved: { correctionId, proposal: 'd6'.repeat(32), ...signed },
  CorrectionRejected: { correctionId, proposal: 'd6'.repeat(32), reason: 'not agreed', ...signed },
  CorrectionWithdrawn: { correctionId, proposal: 'd6'.repeat(32), reason: 'a mistake', ...signed },
  CorrectionBooked: { correctionId, proposal: 'd6'.repeat(32), positions: [0] },
  CorrectionCounted: { correctionId, operator: 'ada', act: 'proposed', credits: 20 },

  WebhookEndpointCreated: {
    workspaceId,
    url: 'https://example.com/readings',
    events: ['reading.completed', 'reading.published', 'reading.failed'],
    modes: ['live', 'test'],
    description: 'production',
    secretRef,
  },
  WebhookEndpointUpdated: {
    url: 'https://example.com/v2/readings',
    events: ['reading.published'],
    modes: ['live'],
    description: null,
  },
  WebhookEndpointSecretRotated: { secretRef, previousValidUntil: '2026-09-30T08:00:00.000Z' },
  WebhookEndpointDisabled: { reason: 'failing' },
  WebhookEndpointEnabled: {},
  WebhookEndpointDeleted: {},
};
