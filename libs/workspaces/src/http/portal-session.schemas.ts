import { z } from 'zod';
import { MODES } from '#event-sourcing/core/mode.js';
import { apiPage, apiSchema, instant, uuid } from '#platform/http/openapi/api-schema.js';
import type { PortalSessionSummary } from '../contracts/portal.js';

const EXAMPLE_ID = '5a1d6f0e-2b47-4c0f-8f43-7e0b6c3d9a12';

export const NAMED_SESSION = {
  description: 'The `sessionId` of the session: not a secret',
  example: EXAMPLE_ID,
};

export interface OpenedPortalSession {
  readonly sessionId: string;
  readonly url?: string | undefined;
  readonly urlExpiresAt: string;
}

export const openedSessionSchema = apiSchema<OpenedPortalSession>(
  'OpenedPortalSession',
  z.object({
    sessionId: uuid().describe('Names the session; not a secret'),
    url: z
      .string()
      .meta({ format: 'uri' })
      .optional()
      .describe(
        'Lets one browser in, once. Shown this once; an answer repeated for an `Idempotency-Key` is without it',
      ),
    urlExpiresAt: instant().describe('Until when the URL works'),
  }),
  'A session of the portal that has not begun.',
  {
    sessionId: EXAMPLE_ID,
    url: 'https://readings.example.com/portal/enter/2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8xQ4',
    urlExpiresAt: '2026-04-04T09:31:00.000Z',
  },
);

const example: PortalSessionSummary = {
  sessionId: EXAMPLE_ID,
  openedBy: 'apiKey:Ab3dE6gH',
  scopes: ['readings:read', 'documents:read', 'credits:read'],
  modes: ['live'],
  createdAt: '2026-04-04T09:30:00.000Z',
  startedAt: '2026-04-04T09:30:04.000Z',
  expiresAt: '2026-04-04T10:30:04.000Z',
  endedAt: null,
};

const sessionSchema = apiSchema<PortalSessionSummary>(
  'PortalSession',
  z.object({
    sessionId: uuid().describe('Names the session; not a secret'),
    openedBy: z.string().describe('Who opened it: `apiKey:` and the id of a key, or `operator:` and a name'),
    scopes: z.array(z.string()).describe('What it may do'),
    modes: z.array(z.enum(MODES)).describe('The modes that it may see'),
    createdAt: instant().describe('When its link was made'),
    startedAt: instant().nullable().describe('When its link was used; null: it was not'),
    expiresAt: instant().describe('When it ends; until it begins, when its link expires'),
    endedAt: instant().nullable().describe('When somebody ended it before its time'),
  }),
  'A session of the portal, without its secrets.',
  example,
);

export const sessionPageSchema = apiPage(
  'PortalSessionPage',
  sessionSchema,
  'Sessions of the portal, newest first, ended ones included.',
  example,
);
