import { z } from 'zod';
import {
  byWorkspace,
  event,
  eventCatalogue,
  type EventOf,
} from '@app/event-sourcing/core/event-catalogue.js';
import { MODES } from '@app/event-sourcing/core/mode.js';

/** Stream `workspace-<workspaceId>`: a customer's workspace and its API keys. Hashes only, never a key. */
export const workspaceEvents = eventCatalogue(byWorkspace('workspace'), {
  WorkspaceOpened: event(1, z.strictObject({ workspaceId: z.string(), name: z.string() })),
  /**
   * `hash`: lowercase hex SHA-256 of `<keyId>_<secret>`.
   * `networks`: CIDR ranges that it works from, none: everywhere. `replaces`: the id of the key that it was rotated from.
   */
  ApiKeyIssued: event(
    1,
    z.strictObject({
      keyId: z.string(),
      hash: z.string(),
      label: z.string().nullable(),
      expiresAt: z.string().nullable(),
      mode: z.enum(MODES),
      scopes: z.array(z.string()),
      networks: z.array(z.string()),
      replaces: z.string().nullable(),
    }),
  ),
  /** The key ends at `expiresAt` (RFC 3339), because the key `replacedBy` was issued in its place. */
  ApiKeyReplaced: event(
    1,
    z.strictObject({ keyId: z.string(), replacedBy: z.string(), expiresAt: z.string() }),
  ),
  ApiKeyRevoked: event(1, z.strictObject({ keyId: z.string(), reason: z.string().nullable() })),
});

export type WorkspaceEvent = EventOf<typeof workspaceEvents>;
