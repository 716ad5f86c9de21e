import { z } from 'zod';
import { apiPage, apiSchema, instant, text } from '@app/platform/http/openapi/api-schema.js';
import type { ApiKeySummary } from '../contracts/queries.js';

const EXAMPLE_ID = 'Ab3dE6gH';

export const NAMED_KEY = { description: 'The `keyId` of the key: not a secret', example: EXAMPLE_ID };

const facts = {
  keyId: text(/^[0-9A-Za-z]{8}$/).describe('Names the key; not a secret'),
  label: z.string().nullable().describe('As given when it was issued'),
  expiresAt: instant().nullable().describe('null: it does not expire'),
};
const example = { keyId: EXAMPLE_ID, label: 'nightly export', expiresAt: null };

const exampleKey = {
  ...example,
  issuedAt: '2026-04-04T09:30:00.000Z',
  revokedAt: null,
  lastUsedAt: '2026-05-12T14:00:00.000Z',
};

const apiKeySchema = apiSchema<ApiKeySummary>(
  'ApiKey',
  z.object({
    ...facts,
    issuedAt: instant().describe('When it was issued'),
    revokedAt: instant().nullable().describe('Since when it is refused; null: it was not revoked'),
    lastUsedAt: instant()
      .nullable()
      .describe('The hour of its last use, recorded within seconds; null: never used'),
  }),
  'An API key, without its secret.',
  exampleKey,
);

export const apiKeysSchema = apiPage(
  'ApiKeys',
  apiKeySchema,
  'A page of the keys of the workspace, newest first, including revoked and expired ones.',
  exampleKey,
);

export const issuedApiKeySchema = apiSchema(
  'IssuedApiKey',
  z.object({
    ...facts,
    apiKey: z
      .string()
      .optional()
      .describe('Shown this once; an answer repeated for an `Idempotency-Key` is without it'),
  }),
  'A key that was just issued.',
  { ...example, apiKey: 'ek_live_Ab3dE6gH_4rT9vXk2LmQ8sYw1ZbN6cD0pF3hJ5kM70a1B2c' },
);
