import type { WebhookEndpointEvent } from '#webhooks/contracts/index.js';

/** Values that several samples share. */
export const workspaceId = 'ws_4f1c7d2a9b3e4d5f8a6b7c8d9e0f1a2b';
export const readingId = '5b0c8f9e-6a5d-8c3b-9f2e-1d4c7b6a5e8f';
export const reservationId = '0e1d2c3b-4a59-5687-9786-a5b4c3d2e1f0';
export const secretRef = '6f9619ff-8b86-4d11-b42d-00c04fc964ff';
export const artifactId = 'art_9d3f6c1e-2b4a-5e7d-8c9f-0a1b2c3d4e5f';
export const causeEventId = '3c2b1a09-f8e7-5d6c-ab4a-392817061524';
export const at = '2026-09-29T08:00:00.000Z';
export const correctionId = '4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f4e617f';
export const SIGNATURE = Buffer.from('a signature').toString('base64');
export const noCredits = {
  'issued:plan': 0,
  'issued:pack': 0,
  adjusted: 0,
  available: 0,
  held: 0,
  consumed: 0,
  expired: 0,
};
export const hold = {
  reservationId,
  readingId,
  amount: 20,
  allocations: [{ grantId: 'plan:sub1:2026-09', amount: 20 }],
};
export const carriedItems = {
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
  orderRefs: ['INV-2026-0042:sprint'],
  adjustmentIds: ['adj_7'],
};
export const sum = (debit: number, credit: number) => ({ debit, credit });
export const endings = { items: 5, refused: 1, published: 1, failed: 1, erased: 1, notAccepted: 1 };

type EndpointSettings = Extract<WebhookEndpointEvent, { type: 'WebhookEndpointUpdated' }>['data'];
export const endpointSettings: EndpointSettings = {
  url: 'https://example.com/readings',
  events: ['reading.completed', 'reading.published', 'reading.failed'],
  modes: ['live', 'test'],
  notices: ['batch.ended', 'credits.low'],
  description: 'production',
  headersRef: secretRef,
  maxPerSecond: 20,
  verified: false,
};
export const laterEndpointSettings: EndpointSettings = {
  url: 'https://example.com/v2/readings',
  events: ['reading.published'],
  modes: ['live'],
  notices: [],
  description: null,
  headersRef: null,
  maxPerSecond: null,
  verified: true,
};
