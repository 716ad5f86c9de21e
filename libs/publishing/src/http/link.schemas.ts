import { z } from 'zod';
import { apiPage, apiSchema, count, instant, uuid } from '#platform/http/openapi/api-schema.js';
import { DOCUMENT_FORMATS, type DocumentFormat } from '../contracts/events.js';
import type { DocumentLink } from '../links/link.store.js';

const EXAMPLE_ID = '0f6a6b0e-7c55-4a3e-9a0d-5b1d0c8f3e27';

export const NAMED_LINK = { description: 'The `linkId` of the link: not a secret', example: EXAMPLE_ID };

const LINK_STATUSES = ['live', 'expired', 'revoked'] as const;

/** A link as its workspace sees it, without the token. */
export interface LinkView {
  readonly linkId: string;
  readonly format: DocumentFormat;
  readonly version: number | null;
  readonly status: (typeof LINK_STATUSES)[number];
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly uses: number;
  readonly lastUsedAt: string | null;
}

/** @param now milliseconds since the epoch */
export const linkView = (
  { readingId: _, workspaceId: __, ...link }: DocumentLink,
  now: number,
): LinkView => ({
  ...link,
  status: link.revokedAt !== null ? 'revoked' : Date.parse(link.expiresAt) <= now ? 'expired' : 'live',
});

const facts = {
  linkId: uuid().describe('Names the link; not a secret'),
  format: z.enum(DOCUMENT_FORMATS).describe('The format that it gives'),
  version: z.int().min(1).nullable().describe('The version that it gives; null: the newest when it is read'),
  expiresAt: instant().describe('Since when it is answered 410'),
};

const example = {
  linkId: EXAMPLE_ID,
  format: 'pdf',
  version: null,
  expiresAt: '2026-04-04T10:30:00.000Z',
} as const;

export interface CreatedLink {
  readonly linkId: string;
  readonly url: string;
  readonly format: DocumentFormat;
  readonly version: number | null;
  readonly expiresAt: string;
}

export const createdLinkSchema = apiSchema<Omit<CreatedLink, 'url'> & { readonly url?: string | undefined }>(
  'CreatedDocumentLink',
  z.object({
    ...facts,
    url: z
      .string()
      .meta({ format: 'uri' })
      .optional()
      .describe(
        'Gives the document to anyone with it. Shown this once; an answer repeated for an `Idempotency-Key` is without it',
      ),
  }),
  'A link that was just created.',
  { ...example, url: 'https://readings.example.com/d/2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8' },
);

const linkExample: LinkView = {
  ...example,
  status: 'live',
  createdAt: '2026-04-04T09:30:00.000Z',
  revokedAt: null,
  uses: 3,
  lastUsedAt: '2026-04-04T09:41:07.000Z',
};

const linkSchema = apiSchema<LinkView>(
  'DocumentLink',
  z.object({
    ...facts,
    status: z.enum(LINK_STATUSES).describe('Only `live` links give the document'),
    createdAt: instant().describe('When it was created'),
    revokedAt: instant().nullable().describe('When somebody revoked it, or the reading was erased'),
    uses: count().describe('How often it gave the document; uses of the last seconds may be missing'),
    lastUsedAt: instant().nullable().describe('When it last gave the document'),
  }),
  'A link to a document, without its token.',
  linkExample,
);

export const linkPageSchema = apiPage(
  'DocumentLinkPage',
  linkSchema,
  'Links to the document of a reading, newest first, ended ones included.',
  linkExample,
);
