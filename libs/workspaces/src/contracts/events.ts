import { z } from 'zod';
import {
  byWorkspace,
  event,
  eventCatalogue,
  type EventOf,
} from '@app/event-sourcing/core/event-catalogue.js';

/** Stream `workspace-<workspaceId>`: a customer's workspace and its API keys. Hashes only, never a key. */
export const workspaceEvents = eventCatalogue(byWorkspace('workspace'), {
  WorkspaceOpened: event(1, z.strictObject({ workspaceId: z.string(), name: z.string() })),
  /** `hash`: lowercase hex SHA-256 of the key's 32-character secret. */
  ApiKeyIssued: event(
    1,
    z.strictObject({
      keyId: z.string(),
      hash: z.string(),
      label: z.string().nullable(),
      expiresAt: z.string().nullable(),
    }),
  ),
  ApiKeyRevoked: event(1, z.strictObject({ keyId: z.string(), reason: z.string().nullable() })),
});

export type WorkspaceEvent = EventOf<typeof workspaceEvents>;
