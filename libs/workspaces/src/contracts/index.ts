import { z } from 'zod';
import { byWorkspace, event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { type Mode, MODES, type RequestContext } from '#event-sourcing/core/request-context.js';
import { Command, Query } from '#platform/cqrs/message.js';

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

/** Opens a workspace. Its id is `ws_` and 22 base62 characters, and cannot be guessed. */
export class OpenWorkspace extends Command<{ workspaceId: string }> {
  constructor(
    readonly name: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** Most characters of a key's label. */
export const MAX_LABEL_LENGTH = 100;

/** What a key is for, and what limits it. */
export interface ApiKeyTerms {
  readonly label: string | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  /** CIDR ranges that it works from, canonical; none: everywhere. */
  readonly networks: readonly string[];
  /** RFC 3339, or `null` for a key that does not expire. */
  readonly expiresAt: string | null;
}

/**
 * The terms that a caller asks for. `null` for the scopes: the ordinary ones; for networks and expiry: none. A caller
 * with a key gives its own networks and expiry instead, and only those of the ordinary scopes that it has.
 */
export interface AskedTerms extends Pick<ApiKeyTerms, 'label' | 'mode' | 'expiresAt'> {
  readonly scopes: readonly string[] | null;
  readonly networks: readonly string[] | null;
}

/** Who issues, rotates or revokes a key. */
export interface KeyManager {
  /** The key that the caller uses, or that opened its session: it gives no more than it has. `null`: there is none. */
  readonly keyId: string | null;
  /** Keys of other modes are unknown to the caller. */
  readonly sees: readonly Mode[];
  /** Of a session of the portal: it gives no others, and never `keys:write` or `portal:write`. Absent: no session. */
  readonly scopes?: readonly string[];
  /** Scopes with which a key would show the caller what it does not see itself: it gives none of them. */
  readonly hides?: readonly string[];
}

/** An operator may manage every key. */
export const OPERATOR: KeyManager = { keyId: null, sees: MODES };

/** A term that a caller may not give a key. */
export type BeyondCaller =
  /** `scope`: the first that it does not have; `never`: one that its kind of credential never gives. */
  | { readonly term: 'scopes' | 'never'; readonly scope: string }
  /** `persons`: a scope of those that the caller `hides`. */
  | { readonly term: 'mode' | 'persons' | 'networks' | 'expiresAt' };

export type KeyRefusal =
  | { readonly outcome: 'unknown_workspace' }
  /**
   * A key to rotate is not active, or of a mode that the caller does not see; or a repeated request finds its new key
   * revoked.
   */
  | { readonly outcome: 'unknown_key' }
  | { readonly outcome: 'key_limit_reached'; readonly limit: number }
  /** The caller's own key was revoked or has expired. */
  | { readonly outcome: 'own_key_ended' }
  | ({ readonly outcome: 'beyond_caller' } & BeyondCaller);

/** Only this result contains the key itself. */
export interface IssuedKey {
  readonly outcome: 'issued';
  readonly keyId: string;
  readonly apiKey: string;
  readonly terms: ApiKeyTerms;
}

/** Issues an API key. At most 100 keys of a workspace are active in each mode. */
export class IssueApiKey extends Command<IssuedKey | KeyRefusal> {
  constructor(
    readonly workspaceId: string,
    readonly asked: AskedTerms,
    readonly by: RequestContext,
    readonly manager: KeyManager = OPERATOR,
  ) {
    super();
  }
}

export interface RotatedKey extends Omit<IssuedKey, 'outcome'> {
  readonly outcome: 'rotated';
  /** RFC 3339: when the previous key ends. */
  readonly previousExpiresAt: string;
}

/**
 * Issues a key with the terms of another one, which ends after the overlap; without overlap, it is revoked.
 */
export class RotateApiKey extends Command<RotatedKey | KeyRefusal> {
  constructor(
    readonly keyId: string,
    readonly overlapSeconds: number,
    readonly by: RequestContext,
    /** The key's workspace. Without it, the workspace is looked up by the key, which must then be projected. */
    readonly workspaceId: string | null,
    readonly manager: KeyManager = OPERATOR,
  ) {
    super();
  }
}

/** Revokes a key. It stops working at once. */
export class RevokeApiKey extends Command<{ outcome: 'revoked' | 'already_revoked' | 'unknown_key' }> {
  constructor(
    readonly keyId: string,
    readonly reason: string | null,
    readonly by: RequestContext,
    /** The key's workspace. Without it, the workspace is looked up by the key, which must then be projected. */
    readonly workspaceId: string | null = null,
    readonly sees: readonly Mode[] = MODES,
  ) {
    super();
  }
}

/**
 * Revokes a key, and every key that was issued or rotated with it, so that nobody who had it keeps one. Whatever it
 * issues meanwhile is included. Repeating it is safe.
 */
export class RevokeApiKeyAndIssued extends Command<
  | { outcome: 'unknown_key' }
  | {
      outcome: 'revoked' | 'already_revoked';
      workspaceId: string;
      /** The ids of the keys that were issued with it, and with those; also of those that were revoked before. */
      issued: readonly string[];
    }
> {
  constructor(
    readonly keyId: string,
    readonly reason: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** What became of a choice of a workspace. */
export interface Chosen {
  readonly outcome: 'chosen' | 'unchanged' | 'unknown_workspace';
}

/** What a workspace chooses; an omitted choice stays. */
export interface Choices {
  /** The paper of its PDFs. Publications already requested keep theirs. */
  readonly paper?: Paper;
  /** Whether webhook bodies show the external ids of readings. Existing events keep theirs. */
  readonly externalId?: boolean;
  /** When `credits.low` is told (0 to 90); 0: never. */
  readonly lowCreditsPercent?: number;
}

export class ChooseForWorkspace extends Command<Chosen> {
  constructor(
    readonly workspaceId: string,
    readonly choices: Choices,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export interface WorkspaceSummary {
  readonly workspaceId: string;
  readonly name: string;
  /** RFC 3339. */
  readonly openedAt: string;
  readonly activeKeys: number;
}

/** From the stream itself, as it was opened, so that a new one is found; `null`: there is no such workspace. */
export class GetWorkspace extends Query<Pick<WorkspaceSummary, 'name' | 'openedAt'> | null> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** The paper that a workspace has chosen for its PDFs, a moment ago at the latest; `by-locale` until it chooses. */
export class GetPaper extends Query<Paper> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** Oldest first; at most 1,000. */
export class ListWorkspaces extends Query<readonly WorkspaceSummary[]> {}

/** What the owner of a key may see of it. Instants are RFC 3339. */
export interface ApiKeySummary {
  readonly keyId: string;
  readonly label: string | null;
  readonly mode: Mode;
  readonly scopes: readonly string[];
  /** CIDR ranges that it works from; none: everywhere. */
  readonly networks: readonly string[];
  readonly issuedAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  /** The hour of its last use; `null`: none is recorded. */
  readonly lastUsedAt: string | null;
}

/** Keys of a workspace, newest first, including revoked and expired ones. */
export class ListApiKeys extends Query<readonly ApiKeySummary[]> {
  constructor(
    readonly workspaceId: string,
    readonly limit: number,
  ) {
    super();
  }
}

/** A key that stops working soon. */
export interface ExpiringKey {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly mode: Mode;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/**
 * Keys in use that expire within `withinMs` after `from` (RFC 3339), also those that a rotation ends. A key that lives for
 * a shorter time in all is not found: it ends as its owner planned, or was rotated soon after it was issued. The row does not
 * tell the two apart.
 */
export class FindExpiringKeys extends Query<{
  readonly found: readonly ExpiringKey[];
  readonly next: string | null;
}> {
  constructor(
    readonly from: string,
    readonly withinMs: number,
    /** `next` of the page before; empty: from the first. */
    readonly after: string,
  ) {
    super();
  }
}

/** The languages of the portal. */
export const PORTAL_LANGUAGES = ['fr', 'en'] as const;
export type PortalLanguage = (typeof PORTAL_LANGUAGES)[number];

/** Characters of the longest name of a zone. */
export const MAX_TIME_ZONE_LENGTH = 64;

/** Whether the formats of this process know the zone. */
export const isTimeZone = (name: string): boolean => {
  if (name.length > MAX_TIME_ZONE_LENGTH) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

/** The settings that a URL of the portal is made of. */
export interface PortalAddress {
  readonly PORTAL: boolean;
  readonly HOST: string;
  /** Where callers reach the service; without it, on this machine alone. */
  readonly PUBLIC_URL?: string | undefined;
}

/** @param port that the API listens on */
export const portalUrl = (
  { PUBLIC_URL, HOST }: PortalAddress,
  port: number | undefined,
  path: string,
): string => `${PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`}/portal${path}`;

/** How long the link to a session works, seconds. */
export const LINK_SECONDS = 60;
/** The longest session, seconds. */
export const MAX_SESSION_SECONDS = 8 * 3_600;

/** What a session may do, and how it looks at first. */
export interface PortalTerms {
  /** Of SESSION_SCOPES. */
  readonly scopes: readonly string[];
  /** The modes that it sees, one at a time; the first at its start. */
  readonly modes: readonly Mode[];
  readonly language: PortalLanguage;
  /** An IANA name, as `Europe/Paris`. */
  readonly timeZone: string;
  /** Where the portal leads back to; `null`: nowhere. */
  readonly returnUrl: string | null;
  /** How long the session lasts once it has begun; at most MAX_SESSION_SECONDS. */
  readonly ttlSeconds: number;
}

/** A link to a session that has not begun. Only this result contains its token. Instants are RFC 3339. */
export interface OpenedPortal {
  readonly sessionId: string;
  readonly token: string;
  readonly linkExpiresAt: string;
}

/**
 * Opens a session of the workspace portal. It begins when its link is used. `null`: the keys of the workspace have a
 * thousand open already; an operator opens one all the same.
 */
export class OpenPortal extends Command<OpenedPortal | null> {
  constructor(
    readonly workspaceId: string,
    readonly terms: PortalTerms,
    /** The API key that opens it: the session ends with the key. `null`: the operator opens it. */
    readonly keyId: string | null,
    /** Who opens it, as `apiKey:<keyId>` or `operator:ada`. */
    readonly actor: string,
  ) {
    super();
  }
}

/** A session that has begun. Instants are RFC 3339. */
export interface PortalSession extends Omit<PortalTerms, 'ttlSeconds'> {
  readonly sessionId: string;
  readonly workspaceId: string;
  readonly keyId: string | null;
  /** What it sees and makes now. */
  readonly mode: Mode;
  readonly expiresAt: string;
}

/** Where the link of a token leads; `null` for one that does not work. It still works afterwards. */
export class FindPortalLink extends Query<Pick<PortalSession, 'workspaceId' | 'language'> | null> {
  constructor(readonly token: string) {
    super();
  }
}

/**
 * Begins a session by the token of its link, which works once. `null`: the token is unknown, used or expired, or the
 * key that opened the session has ended.
 */
export class EnterPortal extends Command<{ readonly secret: string; readonly seconds: number } | null> {
  constructor(readonly token: string) {
    super();
  }
}

/** The session of a secret; `null` for one that is unknown, expired or ended, or whose key has ended. */
export class FindPortalSession extends Query<PortalSession | null> {
  constructor(readonly secret: string) {
    super();
  }
}

/** Changes how a session looks. A mode that it may not see changes nothing. */
export class AdjustPortalSession extends Command<void> {
  constructor(
    readonly sessionId: string,
    readonly change: Partial<Pick<PortalSession, 'mode' | 'language' | 'timeZone'>>,
  ) {
    super();
  }
}

/** Ends a session, or its link before it begins. `foreign`: it is another workspace's. */
export class EndPortalSession extends Command<'ended' | 'unknown' | 'foreign'> {
  /** @param sees the modes of the caller: a session that has none of them, or sees live when the caller does not, is `unknown` */
  constructor(
    readonly workspaceId: string,
    readonly sees: readonly Mode[],
    readonly sessionId: string,
  ) {
    super();
  }
}

/**
 * SQL: whether an API key works at an instant: it is neither revoked nor expired. Reads its row of workspaces.api_key as
 * `key`.
 * @param now a parameter of the statement
 */
export const keyStands = (now: string): string =>
  `key.revoked_at is null and (key.expires_at is null or key.expires_at > ${now})`;
export * from './networks.js';
