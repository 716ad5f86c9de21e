import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import {
  AdjustPortalSession,
  EndPortalSession,
  EnterPortal,
  FindPortalLink,
  FindPortalSession,
  LINK_SECONDS,
  ListPortalSessions,
  OpenPortal,
  type OpenedPortal,
  type PortalSession,
  type PortalSessionSummary,
} from '../contracts/portal.js';
import { PortalSessionStore } from './portal-session.store.js';

/** 256 bits, which nobody guesses: no slow hash is needed. */
const SECRET_BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

const makeSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** `null` for a wrong shape, which costs no query. */
const hashOf = (secret: string): Buffer | null =>
  SHAPE.test(secret) ? createHash('sha256').update(secret, 'ascii').digest() : null;

@CommandHandler(OpenPortal)
export class OpenPortalHandler implements ICommandHandler<OpenPortal> {
  constructor(
    private readonly sessions: PortalSessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, terms, keyId, actor }: OpenPortal): Promise<OpenedPortal | null> {
    const token = makeSecret();
    const sessionId = randomUUID();
    const now = this.clock.now();
    const linkExpiresAt = instant(now + LINK_SECONDS * 1_000);
    const isAdded = await this.sessions.add({
      ...terms,
      sessionId,
      workspaceId,
      keyId,
      openedBy: actor,
      createdAt: instant(now),
      linkHash: hashOf(token)!,
      linkExpiresAt,
    });
    return isAdded ? { sessionId, token, linkExpiresAt } : null;
  }
}

@QueryHandler(FindPortalLink)
export class FindPortalLinkHandler implements IQueryHandler<FindPortalLink> {
  constructor(
    private readonly sessions: PortalSessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ token }: FindPortalLink) {
    const link = hashOf(token);
    return link && this.sessions.findLink(link, instant(this.clock.now()));
  }
}

@CommandHandler(EnterPortal)
export class EnterPortalHandler implements ICommandHandler<EnterPortal> {
  constructor(
    private readonly sessions: PortalSessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ token }: EnterPortal): Promise<{ secret: string; seconds: number } | null> {
    const link = hashOf(token);
    if (!link) return null;
    const secret = makeSecret();
    const seconds = await this.sessions.begin(link, hashOf(secret)!, instant(this.clock.now()));
    return seconds === null ? null : { secret, seconds };
  }
}

@QueryHandler(FindPortalSession)
export class FindPortalSessionHandler implements IQueryHandler<FindPortalSession> {
  constructor(
    private readonly sessions: PortalSessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ secret }: FindPortalSession): Promise<PortalSession | null> {
    const hash = hashOf(secret);
    return hash && this.sessions.find(hash, instant(this.clock.now()));
  }
}

@CommandHandler(AdjustPortalSession)
export class AdjustPortalSessionHandler implements ICommandHandler<AdjustPortalSession> {
  constructor(private readonly sessions: PortalSessionStore) {}

  execute({ sessionId, change }: AdjustPortalSession): Promise<void> {
    return this.sessions.adjust(sessionId, change);
  }
}

@CommandHandler(EndPortalSession)
export class EndPortalSessionHandler implements ICommandHandler<EndPortalSession> {
  constructor(
    private readonly sessions: PortalSessionStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  execute({ workspaceId, sees, sessionId }: EndPortalSession): Promise<'ended' | 'unknown' | 'foreign'> {
    return this.sessions.end(workspaceId, sees, sessionId, instant(this.clock.now()));
  }
}

@QueryHandler(ListPortalSessions)
export class ListPortalSessionsHandler implements IQueryHandler<ListPortalSessions> {
  constructor(private readonly sessions: PortalSessionStore) {}

  execute({ workspaceId, sees, limit, after }: ListPortalSessions): Promise<readonly PortalSessionSummary[]> {
    return this.sessions.page(workspaceId, sees, limit, after);
  }
}

export const PORTAL_HANDLERS = [
  PortalSessionStore,
  OpenPortalHandler,
  FindPortalLinkHandler,
  EnterPortalHandler,
  FindPortalSessionHandler,
  AdjustPortalSessionHandler,
  EndPortalSessionHandler,
  ListPortalSessionsHandler,
];
