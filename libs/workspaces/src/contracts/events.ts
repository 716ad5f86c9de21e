import { z } from 'zod';
import { byWorkspace, event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { MODES } from '#event-sourcing/core/mode.js';

/** What a workspace may choose for its PDFs; `by-locale`: A4 for `fr-FR`, US Letter for `en-US`. */
export const PAPERS = ['by-locale', 'a4', 'us-letter'] as const;
export type Paper = (typeof PAPERS)[number];

/** The share of a workspace that has chosen none. */
export const LOW_CREDITS_PERCENT = 10;

/** Stream `workspace-<workspaceId>`: a customer's workspace, its choices and its API keys. Hashes only, never a key. */
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
  /** The paper of publications requested from now on. It is `by-locale` until a workspace chooses. */
  PaperChosen: event(1, z.strictObject({ paper: z.enum(PAPERS) })),
  /**
   * All choices from now on. `externalId`: whether webhook bodies show the external ids of readings; they do until it says
   * no. `lowCreditsPercent`: when `credits.low` is told; 0: never.
   */
  WebhookContentChosen: event(
    1,
    z.strictObject({ externalId: z.boolean(), lowCreditsPercent: z.int().min(0).max(90) }),
  ),
});

export type WorkspaceEvent = EventOf<typeof workspaceEvents>;
