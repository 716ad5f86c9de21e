import type { Mode } from '#event-sourcing/core/mode.js';
import { Command, Query } from '#platform/cqrs/message.js';

/** The languages of the portal. */
export const PORTAL_LANGUAGES = ['fr', 'en'] as const;
export type PortalLanguage = (typeof PORTAL_LANGUAGES)[number];

/** Characters of the longest name of a zone. */
export const LONGEST_TIME_ZONE = 64;

/** Whether the formats of this process know the zone. */
export const isTimeZone = (name: string): boolean => {
  if (name.length > LONGEST_TIME_ZONE) return false;
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
export const LONGEST_SESSION_SECONDS = 8 * 3_600;

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
  /** How long the session lasts once it has begun; at most LONGEST_SESSION_SECONDS. */
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
  /** @param sees the modes of the caller: a session that has none of them is `unknown` */
  constructor(
    readonly workspaceId: string,
    readonly sees: readonly Mode[],
    readonly sessionId: string,
  ) {
    super();
  }
}

/** A session as the workspace sees it. Instants are RFC 3339. */
export interface PortalSessionSummary {
  readonly sessionId: string;
  /** As `apiKey:<keyId>` or `operator:ada`. */
  readonly openedBy: string;
  readonly scopes: readonly string[];
  readonly modes: readonly Mode[];
  readonly createdAt: string;
  /** When its link was used; `null`: it was not. */
  readonly startedAt: string | null;
  readonly expiresAt: string;
  /** When it was ended before its time. */
  readonly endedAt: string | null;
}

/** Sessions of a workspace, newest first, also those that have ended in the last 30 days. */
export class ListPortalSessions extends Query<readonly PortalSessionSummary[]> {
  /** @param sees the modes of the caller: a session has one of them, or both, or is not shown */
  constructor(
    readonly workspaceId: string,
    readonly sees: readonly Mode[],
    readonly limit: number,
    /** `createdAt` and `sessionId` of the last one of the page before; `null`: from the newest. */
    readonly after: readonly string[] | null,
  ) {
    super();
  }
}
