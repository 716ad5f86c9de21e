import { z } from 'zod';
import { apiPage, apiSchema, instant, text } from '#platform/http/openapi/api-schema.js';
import { MODES } from '#event-sourcing/core/mode.js';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import type { ApiKeySummary } from '../contracts/queries.js';

const EXAMPLE_ID = 'Ab3dE6gH';

export const NAMED_KEY = { description: 'The `keyId` of the key: not a secret', example: EXAMPLE_ID };

const KEY_ID = /^[0-9A-Za-z]{8}$/;
const facts = {
  keyId: text(KEY_ID).describe('Names the key; not a secret'),
  label: z.string().nullable().describe('As given when it was issued'),
  mode: z.enum(MODES).describe('It makes and sees only resources of this mode'),
  // Open for clients: v1 may add scopes.
  scopes: z
    .array(z.string())
    .describe(`What it may do: ${API_KEY_SCOPES.map((one) => `\`${one}\``).join(', ')}`),
  networks: z.array(z.string()).describe('Networks that it works from, in CIDR notation; empty: everywhere'),
  expiresAt: instant()
    .nullable()
    .describe('When it stops working, also after a rotation; null: it does not expire'),
};
const example = {
  keyId: EXAMPLE_ID,
  label: 'nightly export',
  mode: 'live' as const,
  scopes: ['readings:read', 'documents:read'],
  networks: ['203.0.113.0/24'],
  expiresAt: null,
};

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

const EXAMPLE_KEY = 'ek_live_Ab3dE6gH_4rT9vXk2LmQ8sYw1ZbN6cD0pF3hJ5kM70a1B2c';
const issuedKey = {
  ...facts,
  apiKey: z
    .string()
    .optional()
    .describe('Shown this once; an answer repeated for an `Idempotency-Key` is without it'),
};

export const issuedApiKeySchema = apiSchema(
  'IssuedApiKey',
  z.object(issuedKey),
  'A key that was just issued.',
  { ...example, apiKey: EXAMPLE_KEY },
);

export const rotatedApiKeySchema = apiSchema(
  'RotatedApiKey',
  z.object({
    ...issuedKey,
    previousKeyId: text(KEY_ID).describe('The key that this one replaces'),
    previousExpiresAt: instant().describe('When the previous key stops working'),
  }),
  'A key that was just issued in place of another.',
  {
    ...example,
    apiKey: EXAMPLE_KEY,
    previousKeyId: 'Zz9yX8wV',
    previousExpiresAt: '2026-05-13T09:30:00.000Z',
  },
);
