import type pg from 'pg';
import type { Logger } from 'pino';
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { sql, type Statement } from '#event-sourcing/projections/statement.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { hostOfUrl } from '../domain/webhook-url.js';
import type { HeaderVault, SecretVault } from '../application/vaults.js';
import type { EndpointStreams } from '../application/endpoints.js';
import { isOfReceiver, retryPause } from '../domain/attempt.js';
import { signedHeaders } from '../domain/signed-headers.js';
import { probeOf } from '../domain/notice.js';
import { refsInForce, type EndpointSecret } from '../domain/webhook-endpoint.decider.js';
import { asRecord } from '#platform/postgres/as-record.js';
import type { Config } from '../settings.js';
import type { SendsRequests } from './dispatch/sender.js';
import { leaseMsOf } from './dispatch/workspace-leases.js';
import { FindVerification, type VerificationRecord } from '../contracts/index.js';

/** No workspace makes the service probe a host more often than this. */
const PROBE_REST_MS = 60_000;

/** An endpoint waits for a probe of this URL. The same event twice changes nothing; another URL begins anew. @param at RFC 3339 */
export const askForProbe = (endpointId: string, url: string, at: string): Statement => sql`
  insert into webhooks.verification as known (endpoint_id, url, host, asked_at, due_at)
  values (${endpointId}, ${url}, ${hostOfUrl(url)}, ${at}, ${at})
  on conflict (endpoint_id) do update
  set url = excluded.url, host = excluded.host, asked_at = excluded.asked_at, attempts = 0, last_error = null,
      due_at = excluded.due_at
  where known.url <> excluded.url`;

/** The next probe comes at once, or when the host has had its rest. @param at RFC 3339 */
export const probeAgain = (endpointId: string, at: string): Statement => sql`
  update webhooks.verification set attempts = 0, due_at = ${at}
  where endpoint_id = ${endpointId}`;

/** The endpoint needs no probe (any more). */
export const endProbes = (endpointId: string): Statement =>
  sql`delete from webhooks.verification where endpoint_id = ${endpointId}`;

const EVERY_MS = 1_000;
/** Probes under way in a process. */
const AT_ONCE = 100;

interface VerificationParts {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly config: Pick<Config, 'WEBHOOK_RETRY_SCHEDULE_MS' | 'WEBHOOK_ATTEMPT_TIMEOUT_MS'>;
  readonly vault: SecretVault;
  readonly headers: HeaderVault;
  readonly streams: EndpointStreams;
  /** Opened while the loop runs. */
  readonly openSender: () => SendsRequests;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

interface DueProbe {
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly host: string;
  readonly attempts: number;
  readonly askedAt: Date;
  readonly livemode: boolean;
  readonly secrets: readonly EndpointSecret[];
  readonly headersRef: string | null;
}

/**
 * One endpoint of each workspace, the longest due first, so that silent hosts of one workspace leave room for others. The
 * lease is the time of the next probe: it moves before the request is sent. Two workers that claim endpoints of one host
 * wait for each other at its rest, and one of them gets it.
 * $2: how long the lease lasts (ms). $3: at most so many.
 */
const CLAIM = `
  with longest_due as (
    select distinct on (workspace_id) endpoint_id, workspace_id, due_at
    from webhooks.verification join webhooks.endpoint using (endpoint_id)
    where due_at <= $1 and not verified and enabled and deleted_at is null and endpoint.url = verification.url
      and not exists (
        select from webhooks.probe_rest rest
        where rest.workspace_id = endpoint.workspace_id and rest.host = verification.host and rest.rests_until > $1)
    order by workspace_id, due_at
  ), due as (
    select endpoint_id, workspace_id, host, verification.due_at
    from webhooks.verification join longest_due using (endpoint_id)
    where verification.due_at <= $1
    order by verification.due_at limit $3 for update of verification skip locked
  ), rested as (
    insert into webhooks.probe_rest as known (workspace_id, host, rests_until)
    select distinct workspace_id, host, $1::timestamptz + ${PROBE_REST_MS} * interval '1 millisecond' from due
    order by workspace_id, host
    on conflict (workspace_id, host) do update set rests_until = excluded.rests_until where known.rests_until <= $1
    returning workspace_id, host
  ), chosen as (
    select distinct on (workspace_id, host) endpoint_id, host from due join rested using (workspace_id, host)
    order by workspace_id, host, due_at
  )
  update webhooks.verification probe
  set due_at = $1::timestamptz + $2::integer * interval '1 millisecond'
  from chosen join webhooks.endpoint using (endpoint_id)
  where probe.endpoint_id = chosen.endpoint_id
  returning probe.endpoint_id as "endpointId", endpoint.workspace_id as "workspaceId", probe.url, chosen.host,
            probe.attempts, probe.asked_at as "askedAt", 'live' = any (endpoint.modes) as livemode, endpoint.secrets,
            endpoint.headers_ref as "headersRef"`;

/** A host that has agreed needs no rest before the next endpoint on it is probed. $1: workspace, $2: host. */
const END_REST = 'delete from webhooks.probe_rest where workspace_id = $1 and host = $2';

/** Rests that were over an hour ago, so that no claim of now needs them. */
const FORGET_RESTS = `delete from webhooks.probe_rest where rests_until < $1::timestamptz - interval '1 hour'`;

/** Sends signed probes to endpoints that are not verified, until 2xx; when the schedule ends, the endpoint is disabled. */
export const verifyEndpoints = (parts: VerificationParts): WorkLoop => ({
  name: 'webhooks.verification',
  role: 'webhooks',
  async run(signal) {
    const sender = parts.openSender();
    const underWay = new Set<Promise<void>>();
    // Nobody waits for a silent host but its own endpoint.
    const round = async (): Promise<void> => {
      for (const due of await claim(parts, AT_ONCE - underWay.size)) {
        const probed: Promise<void> = probe(parts, sender, due)
          .catch((error: unknown) => parts.log.warn({ err: error }, 'a probe of a webhook endpoint failed'))
          .finally(() => underWay.delete(probed));
        underWay.add(probed);
      }
    };
    signal.addEventListener('abort', () => sender.cancel(), { once: true });
    await repeatedWork('webhooks.verification', EVERY_MS, round, parts.log).run(signal);
    await Promise.all(underWay);
  },
});

/** Probes what is due, once. A kill after the response costs another probe. */
export const probeDue = async (parts: VerificationParts, sender: SendsRequests): Promise<void> => {
  const due = await claim(parts, AT_ONCE);
  await Promise.all(due.map((one) => probe(parts, sender, one)));
};

const claim = async (
  { pool, clock, config }: VerificationParts,
  most: number,
): Promise<readonly DueProbe[]> => {
  if (most <= 0) return [];
  const leaseMs = Math.max(leaseMsOf(config), PROBE_REST_MS);
  const { rows } = await pool.query<DueProbe>({
    // Every worker asks each second, and planning takes longer than finding nothing.
    name: 'probes-due',
    text: CLAIM,
    values: [instant(clock.now()), leaseMs, most],
  });
  if (rows.length > 0) await pool.query(FORGET_RESTS, [instant(clock.now())]);
  return rows;
};

const probe = async (parts: VerificationParts, sender: SendsRequests, due: DueProbe): Promise<void> => {
  const { clock, vault, headers, config, pool, streams, log } = parts;
  const { endpointId, workspaceId, url } = due;
  const number = due.attempts + 1;
  const at = clock.now();
  const { eventId, deliveryId, type, body } = probeOf({ ...due, at: due.askedAt.toISOString() });
  const bytes = Buffer.from(body, 'utf8');
  const signed = signedHeaders({
    deliveryId,
    eventId,
    type,
    attempt: number,
    test: false,
    redelivery: false,
    body: bytes,
    secrets: await vault.open(endpointId, refsInForce(due.secrets, at)),
    timestamp: Math.floor(at / 1_000),
  });
  const custom = await headers.open(endpointId, due.headersRef);
  const request = { workspaceId, endpointId, url, headers: { ...custom, ...signed }, body: bytes };
  const result = await sender.send(request);
  if (result === 'cancelled') return;
  const context = {
    workspaceId,
    by: causedBy({ correlationId: eventId, causationId: eventId }, 'webhooks.verification'),
  };
  if (result.error === null) {
    await streams.execute(
      endpointId,
      { type: 'VerifyEndpoint', url },
      { ...context, intent: `verify|${url}|${number}` },
    );
    await pool.query(END_REST, [workspaceId, due.host]);
    log.info({ endpointId }, 'webhook endpoint verified');
    return;
  }
  const isCounted = isOfReceiver(result.error);
  const backOffMs = retryPause(config.WEBHOOK_RETRY_SCHEDULE_MS, deliveryId, number, result.retryAfterMs);
  await pool.query(
    `update webhooks.verification set attempts = $3, last_error = $4, due_at = $5
     where endpoint_id = $1 and url = $2`,
    [
      endpointId,
      url,
      isCounted ? number : due.attempts,
      result.error,
      instant(clock.now() + (backOffMs ?? PROBE_REST_MS)),
    ],
  );
  const reason = result.statusCode === 410 ? 'gone' : 'failing';
  if (!isCounted || (backOffMs !== null && reason !== 'gone')) return;
  await streams.execute(
    endpointId,
    { type: 'DisableEndpoint', reason, url },
    { ...context, intent: `disable|${deliveryId}|${number}|${at}` },
  );
  log.warn({ endpointId, reason }, 'webhook endpoint disabled: it answered no probe');
};

@QueryHandler(FindVerification)
export class FindVerificationHandler implements IQueryHandler<FindVerification> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ endpointId }: FindVerification): Promise<VerificationRecord | null> {
    const { rows } = await this.pool.query<object>(
      `select asked_at as "askedAt", attempts, greatest(due_at, rest.rests_until) as "nextProbeAt",
              last_error as "lastError"
       from webhooks.verification
       join webhooks.endpoint using (endpoint_id)
       left join webhooks.probe_rest rest
         on rest.workspace_id = endpoint.workspace_id and rest.host = verification.host
       where endpoint_id = $1`,
      [endpointId],
    );
    return rows[0] ? asRecord<VerificationRecord>(rows[0]) : null;
  }
}
