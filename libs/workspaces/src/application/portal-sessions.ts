import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler, type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { type Clock, instant } from '#event-sourcing/core/clock.js';
import { asRecord } from '#platform/postgres/as-record.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import {
  AdjustPortalSession,
  EndPortalSession,
  EnterPortal,
  FindPortalLink,
  FindPortalSession,
  keyStands,
  LINK_SECONDS,
  MAX_SESSION_SECONDS,
  type OpenedPortal,
  OpenPortal,
  type PortalLanguage,
  type PortalSession,
} from '../contracts/index.js';

/** How long the workspace sees sessions that have ended. */
const KEPT_FOR = '30 days';
/** More than are added, so that none accumulate, and few enough that nobody waits for them. */
const FORGOTTEN_WITH_EACH = 100;

/**
 * Sessions of a workspace in one mode that its keys have open, with links that still work: one for each of a thousand people. Whoever
 * opens more has a loop. Requests at the same time may exceed it by as many.
 */
export const MAX_OPEN = 1_000;

/** SQL: the mode whose callers know of a session: live, if it sees live. An index has it. */
export const MODE_SHOWN_TO = `case when 'live' = any (modes) then 'live' else 'test' end`;

/** A link that works at an instant. */
const LINK_WORKS = `link_sha256 = $1 and link_expires_at > $2::timestamptz and ended_at is null`;
/** What a session needs of the key that opened it. @param now a parameter of the statement */
const openerStands = (now: string): string => `(session.key_id is null or exists (
  select from workspaces.api_key as key where key.key_id = session.key_id and ${keyStands(now)}))`;
const OPENER_STANDS = openerStands('$2');

/** 256 bits, which nobody guesses: no slow hash is needed. */
const SECRET_BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

const makeSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** `null` for a wrong shape, which costs no query. */
const hashOf = (secret: string): Buffer | null =>
  SHAPE.test(secret) ? createHash('sha256').update(secret, 'ascii').digest() : null;

// Sessions of the portal are rows, not events: they pass, and no decision depends on them.

/**
 * Adds a session, and deletes some old ones of all workspaces: old by both clocks, of which one may be ahead. A key opens
 * none beyond MAX_OPEN.
 */
@CommandHandler(OpenPortal)
export class OpenPortalHandler implements ICommandHandler<OpenPortal> {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId, terms, keyId, actor }: OpenPortal): Promise<OpenedPortal | null> {
    const token = makeSecret();
    const sessionId = randomUUID();
    const now = this.clock.now();
    const linkExpiresAt = instant(now + LINK_SECONDS * 1_000);
    const { rowCount } = await this.pool.query(
      `with forgotten as (
         delete from workspaces.portal_session where ctid = any (array(
           select ctid from workspaces.portal_session
           where expires_at < least($12::timestamptz, now()) - interval '${KEPT_FOR}'
           order by expires_at limit ${FORGOTTEN_WITH_EACH} for update skip locked))
       )
       insert into workspaces.portal_session (session_id, workspace_id, key_id, opened_by, scopes, modes, mode,
         language, time_zone, return_url, ttl_seconds, created_at, link_sha256, link_expires_at, expires_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14
       where $3::text is null or ${MAX_OPEN} > (
         select count(*) from workspaces.portal_session as session
         where workspace_id = $2 and modes && $6::text[] and key_id is not null and ended_at is null
           and expires_at > $12::timestamptz
           and created_at > $12::timestamptz - interval '${LINK_SECONDS + MAX_SESSION_SECONDS} seconds'
           and ${openerStands('$12')})`,
      [
        sessionId,
        workspaceId,
        keyId,
        actor,
        terms.scopes,
        terms.modes,
        terms.modes[0],
        terms.language,
        terms.timeZone,
        terms.returnUrl,
        terms.ttlSeconds,
        instant(now),
        hashOf(token),
        linkExpiresAt,
      ],
    );
    return rowCount === 1 ? { sessionId, token, linkExpiresAt } : null;
  }
}

@QueryHandler(FindPortalLink)
class FindPortalLinkHandler implements IQueryHandler<FindPortalLink> {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ token }: FindPortalLink) {
    const link = hashOf(token);
    if (!link) return null;
    const { rows } = await this.pool.query<{ workspaceId: string; language: PortalLanguage }>(
      `select workspace_id as "workspaceId", language from workspaces.portal_session as session
       where ${LINK_WORKS} and ${OPENER_STANDS}`,
      [link, instant(this.clock.now())],
    );
    return rows[0] ?? null;
  }
}

/** One statement, so that of two browsers with the link one gets in. */
@CommandHandler(EnterPortal)
export class EnterPortalHandler implements ICommandHandler<EnterPortal> {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ token }: EnterPortal): Promise<{ secret: string; seconds: number } | null> {
    const link = hashOf(token);
    if (!link) return null;
    const secret = makeSecret();
    const { rows } = await this.pool.query<{ ttl_seconds: number }>(
      `update workspaces.portal_session as session
       set link_sha256 = null, secret_sha256 = $3, started_at = $2,
           expires_at = $2::timestamptz + ttl_seconds * interval '1 second'
       where ${LINK_WORKS} and ${OPENER_STANDS}
       returning ttl_seconds`,
      [link, instant(this.clock.now()), hashOf(secret)],
    );
    const [row] = rows;
    return row ? { secret, seconds: row.ttl_seconds } : null;
  }
}

@QueryHandler(FindPortalSession)
export class FindPortalSessionHandler implements IQueryHandler<FindPortalSession> {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ secret }: FindPortalSession): Promise<PortalSession | null> {
    const hash = hashOf(secret);
    if (!hash) return null;
    const { rows } = await this.pool.query<object>({
      name: 'portal-session',
      text: `select session_id as "sessionId", workspace_id as "workspaceId", key_id as "keyId", scopes, modes, mode, language,
                    time_zone as "timeZone", return_url as "returnUrl", expires_at as "expiresAt"
             from workspaces.portal_session as session
             where secret_sha256 = $1 and expires_at > $2::timestamptz and ended_at is null and ${OPENER_STANDS}`,
      values: [hash, instant(this.clock.now())],
    });
    return rows[0] ? asRecord<PortalSession>(rows[0]) : null;
  }
}

@CommandHandler(AdjustPortalSession)
class AdjustPortalSessionHandler implements ICommandHandler<AdjustPortalSession> {
  constructor(@Inject(POSTGRES) private readonly pool: Pool) {}

  async execute({ sessionId, change: { mode, language, timeZone } }: AdjustPortalSession): Promise<void> {
    await this.pool.query(
      `update workspaces.portal_session
       set mode = case when $2 = any (modes) then $2 else mode end,
           language = coalesce($3, language), time_zone = coalesce($4, time_zone)
       where session_id = $1`,
      [sessionId, mode ?? null, language ?? null, timeZone ?? null],
    );
  }
}

@CommandHandler(EndPortalSession)
export class EndPortalSessionHandler implements ICommandHandler<EndPortalSession> {
  constructor(
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({
    workspaceId,
    sees,
    sessionId,
  }: EndPortalSession): Promise<'ended' | 'unknown' | 'foreign'> {
    const { rows } = await this.pool.query<{ ended: boolean }>(
      `with ended as (
         update workspaces.portal_session
         set ended_at = coalesce(ended_at, $3), link_sha256 = null, secret_sha256 = null
         where workspace_id = $1 and session_id = $2 and ${MODE_SHOWN_TO} = any ($4)
         returning true)
       select exists (select from ended) as ended from workspaces.portal_session
       where session_id = $2 and (workspace_id <> $1 or ${MODE_SHOWN_TO} = any ($4))`,
      [workspaceId, sessionId, instant(this.clock.now()), sees],
    );
    const [row] = rows;
    return row ? (row.ended ? 'ended' : 'foreign') : 'unknown';
  }
}

export const PORTAL_HANDLERS = [
  OpenPortalHandler,
  FindPortalLinkHandler,
  EnterPortalHandler,
  FindPortalSessionHandler,
  AdjustPortalSessionHandler,
  EndPortalSessionHandler,
];
