import { z } from 'zod';
import { FAULT_KINDS, faultOf } from '#platform/fault/fault.js';
import { WORKER_ROLES, type WorkerRole } from '#platform/config/settings.js';
import { apiSchema } from '#platform/http/openapi/api-schema.js';
import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Pool } from 'pg';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { consumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import {
  EVENT_STORE,
  EVENT_STORE_CONNECTION,
  type EventStore,
  type StoreConnection,
} from '#event-sourcing/store/event-store.js';
import { Public } from '#platform/auth/authentication.js';
import { DiskReserve } from '#platform/disk/disk-reserve.js';
import { admissionOf } from '#platform/http/admission.js';
import { IgnoresParameters } from '#platform/http/known-parameters.interceptor.js';
import { Answers } from '#platform/http/openapi/operation.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { sharedAnswer } from '#platform/async/shared-answer.js';
import { within } from '#platform/async/within.js';
import { missingRoles } from '#platform/time/heartbeat.js';
import { TrustedTime } from '#platform/time/trusted-time.js';
import { CONFIG } from '#platform/tokens.js';
import type { Config } from '../../service/src/settings.js';
import { findMissingTables } from '../../service/src/tables.js';

const liveness = z.object({
  status: z.enum(['ok', 'stuck']).describe('`stuck`: restart the process'),
});
type Liveness = z.infer<typeof liveness>;

const livenessSchema = apiSchema<Liveness>(
  'Liveness',
  liveness,
  'Whether the process works; `stuck` when only a restart can help.',
  { status: 'ok' },
);

/** The faults of a store; `late`: work waits too long; `beyond_the_log`: the two stores do not belong together; `role_missing`: there are workers, and none with a role. */
const CAUSES = [
  ...FAULT_KINDS,
  'late',
  'beyond_the_log',
  'no_worker',
  'role_missing',
  'clock',
  'unknown',
] as const;
type ReadinessCause = (typeof CAUSES)[number];

const readiness = z.object({
  status: z.enum(['ready', 'not ready']).describe('`ready`: every check holds'),
  checks: z
    .object({
      eventStore: z.boolean().describe('The event store answers'),
      postgres: z.boolean().describe('PostgreSQL answers'),
      tables: z
        .boolean()
        .describe(
          'Every table that requests need exists, and that of API keys has the keys that were issued',
        ),
      worker: z.boolean().describe('Workers of every role have sent a heartbeat recently'),
      consumers: z.boolean().describe('No running consumer has left an event unhandled for too long'),
      disk: z.boolean().describe('The disk keeps its reserve'),
      clock: z.boolean().describe('The clocks of this process, PostgreSQL and the event store agree'),
    })
    .describe('Whether each part can do its work'),
  causes: z
    .record(z.string(), z.enum(CAUSES))
    .describe('Why checks failed, by check; a check that failed only because of another one is not repeated'),
  missingRoles: z
    .array(z.enum(WORKER_ROLES))
    .describe(
      'Roles that no worker has had recently; by READINESS_ROLES, the service may be ready without one',
    ),
  parkedStreams: z
    .int()
    .nullable()
    .describe(
      'Streams that wait because an event cannot be handled; null when unknown; the service stays ready',
    ),
});
type Readiness = z.infer<typeof readiness>;

const readinessSchema = apiSchema<Readiness>(
  'Readiness',
  readiness,
  'Whether the service can do its work, and which part of it cannot.',
  {
    status: 'ready',
    checks: {
      eventStore: true,
      postgres: true,
      tables: true,
      worker: true,
      consumers: true,
      disk: true,
      clock: true,
    },
    causes: {},
    missingRoles: [],
    parkedStreams: 0,
  },
);

const CHECK_WITHIN_MS = 2_000;
/** Readiness is evaluated at most this often, because anyone may call it. */
const FRESH_MS = 1_000;
/** The service is not ready while a consumer’s oldest unhandled event is older: readings would seem lost to their callers. */
const LATE_FROM_SECONDS = 60;
/** Enough events to find the oldest one that a consumer has not handled, in one short read. */
const LOOK_AHEAD = 64;

@Controller()
@Public()
@IgnoresParameters()
@ApiTags('Health')
export class HealthController {
  private readonly readiness = sharedAnswer(FRESH_MS, () => this.look());

  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(EVENT_STORE_CONNECTION) private readonly connection: Pick<StoreConnection, 'beyondHelp'>,
    @Inject(POSTGRES) private readonly pool: Pool,
    @Inject(DiskReserve) private readonly disk: Pick<DiskReserve, 'isKept'>,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READINESS_ROLES'>,
    @Inject(TrustedTime) private readonly time: Pick<TrustedTime, 'now'>,
  ) {}

  /** 200 while the process works; 503 when only a restart can help, never because a store is unavailable. */
  @Get('healthz')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Check whether the process works',
    description: 'For operators: restart the process when the answer is not 200.',
  })
  @Answers(200, 'The process works', livenessSchema)
  @Answers(503, 'The connection to the event store is unusable: restart the process', livenessSchema)
  live(@Res() response: Response): void {
    const stuck = this.connection.beyondHelp;
    answer(response, stuck ? 503 : 200, { status: stuck ? 'stuck' : 'ok' });
  }

  /** 200 only when a POST would be accepted and its work done. Otherwise 503 with what is missing, and why. */
  @Get('readyz')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Check whether a new reading would be accepted and completed',
    description: 'For operators.',
  })
  @Answers(200, 'Everything is available', readinessSchema)
  @Answers(503, 'Something is missing: `checks` lists it, `causes` says why', readinessSchema)
  async ready(@Res() response: Response): Promise<void> {
    const body = await this.readiness();
    answer(response, body.status === 'ready' ? 200 : 503, body);
  }

  private async look(): Promise<Readiness> {
    const roles = missingRoles(this.pool);
    const [eventStore, postgres, tables, worker, consumers, clock, missing, parkedStreams] =
      await Promise.all([
        causeOf(this.store.head()),
        causeOf(this.pool.query('select 1')),
        causeOf(this.tablesAreThere()),
        causeOf(roles.then((found) => this.requireRoles(found))),
        causeOf(this.consumersKeepUp()),
        this.clockFault(),
        within(CHECK_WITHIN_MS, roles),
        within(CHECK_WITHIN_MS, this.parkedStreams()),
      ]);
    const disk = this.disk.isKept() ? null : ('disk_full' as const);
    const found = { eventStore, postgres, tables, worker, consumers, disk, clock };
    const failed = Object.entries(found).filter(([, cause]) => cause !== null);
    const checks = Object.fromEntries(Object.entries(found).map(([name, cause]) => [name, cause === null]));
    return {
      status: failed.length === 0 ? 'ready' : 'not ready',
      checks: checks as Readiness['checks'],
      causes: rootCauses(failed as [string, ReadinessCause][]),
      missingRoles: [...(missing ?? [])],
      parkedStreams: parkedStreams ?? null,
    };
  }

  private async tablesAreThere(): Promise<void> {
    if ((await findMissingTables(this.pool)).length > 0) throw new NotReady('table_missing');
  }

  /** One cause, one check: a store that does not answer is reported as such. */
  private clockFault(): Promise<'clock' | null> {
    return Promise.resolve(this.time.now()).then(
      () => null,
      (error: unknown) => (error instanceof ClockUntrusted ? 'clock' : null),
    );
  }

  private requireRoles(missing: readonly WorkerRole[]): void {
    if (missing.length === WORKER_ROLES.length) throw new NotReady('no_worker');
    if (missing.some((role) => this.config.READINESS_ROLES.includes(role)))
      throw new NotReady('role_missing');
  }

  /** Streams that wait for an operator do not make the service unready: the others continue. */
  private async parkedStreams(): Promise<number> {
    const { rows } = await this.pool.query<{ parked: number }>(
      'select count(distinct stream)::int as parked from event_sourcing.parked_stream',
    );
    return rows[0]!.parked;
  }

  /** A halted consumer is for an alert, not for the load balancer. Beyond the log, the two stores do not belong together. */
  private async consumersKeepUp(): Promise<void> {
    const lags = await consumerLag(this.pool, this.store, { lookAhead: LOOK_AHEAD });
    const late = lags.find(
      ({ status, seconds }) =>
        status === 'beyond_the_log' || (status === 'running' && seconds > LATE_FROM_SECONDS),
    );
    if (late) throw new NotReady(late.status === 'running' ? 'late' : 'beyond_the_log');
  }
}

/** Checks that need a store, and those whose cause they repeat. */
const DEPENDENT = ['tables', 'worker', 'consumers'];
const ROOTS = ['postgres', 'eventStore', 'tables'];

/** One cause, one entry: a check that failed only because of another one has no cause of its own. */
const rootCauses = (failed: readonly (readonly [string, ReadinessCause])[]): Readiness['causes'] => {
  // A worker that does not reach the event store sends no heartbeat.
  const isSilenced = failed.some(([name]) => name === 'eventStore');
  return Object.fromEntries(
    failed.filter(
      ([name, cause]) =>
        !(isSilenced && (cause === 'no_worker' || cause === 'role_missing')) &&
        (!DEPENDENT.includes(name) ||
          !failed.some(([root, same]) => root !== name && same === cause && ROOTS.includes(root))),
    ),
  );
};

/** `limitAddresses` repeats it to callers that ask too often. */
const answer = (response: Response, status: number, body: Liveness | Readiness): void => {
  admissionOf(response.req)?.remember(status, body);
  response.status(status).json(body);
};

/** A check that failed although the stores answered. */
class NotReady extends Error {
  constructor(override readonly cause: ReadinessCause) {
    super(cause);
  }
}

/** Why the check failed, in time; `null` when it passed. */
const causeOf = (check: Promise<unknown>): Promise<ReadinessCause | null> =>
  withDeadline<ReadinessCause | null, ReadinessCause>(
    CHECK_WITHIN_MS,
    () =>
      check.then(
        () => null,
        (error: unknown) =>
          error instanceof NotReady ? error.cause : (faultOf(error)?.kind ?? ('unknown' as const)),
      ),
    () => 'absent',
  );
