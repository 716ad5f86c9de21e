import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Pool } from 'pg';
import { beyondTheLog } from '#event-sourcing/projections/consumer-lag.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { sharedAnswer } from '../async/shared-answer.js';
import { within } from '../async/within.js';
import { Problem } from '../http/problem.js';
import { POSTGRES } from '../postgres/pool.js';
import { DiskReserve } from './disk-reserve.js';

/** Requests that make something. DELETE stays open: erasing and revoking cannot wait for a larger disk. */
const NEW_WORK = new Set(['POST', 'PUT', 'PATCH']);
/** Seconds: a person has to make room, or to mend the stores. */
const RETRY_AFTER = '60';
/**
 * How often the stores are compared, and how long a request waits for that. The last answer counts until the next one:
 * a store that is slow does not make new work safe. A store that is away has refusals of its own.
 */
const COMPARED_EVERY_MS = 1_000;

/**
 * Refuses new work while the disk has only its reserve left, so that accepted work can be finished, and while the event
 * store is older than PostgreSQL: consumers would never see it.
 */
@Injectable()
export class NewWorkGuard implements CanActivate {
  private readonly compared: () => Promise<unknown>;
  private areApart = false;

  constructor(
    private readonly disk: DiskReserve,
    @Inject(POSTGRES) pool: Pool,
    @Inject(EVENT_STORE) store: EventStore,
  ) {
    const compare = async (): Promise<void> => {
      this.areApart = (await beyondTheLog(pool, store)).size > 0;
    };
    this.compared = sharedAnswer(COMPARED_EVERY_MS, () => within(COMPARED_EVERY_MS, compare()));
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { method } = context.switchToHttp().getRequest<Request>();
    if (!NEW_WORK.has(method)) return true;
    if (!this.disk.isKept()) throw refused('is short of disk space');
    await this.compared();
    if (this.areApart) throw refused('is being repaired');
    return true;
  }
}

const refused = (state: string): Problem =>
  new Problem('enqueue_unavailable', {
    detail: `The service ${state} and accepts no new work; existing data stays readable`,
    headers: { 'Retry-After': RETRY_AFTER },
    isLogged: true,
  });
