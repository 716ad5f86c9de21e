import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { principalOf, type Principal } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import { within } from '#platform/async/within.js';
import { ASKED_WITHIN_MS } from '#platform/rate-limit/rate-limit.guard.js';
import { CONFIG } from '#platform/tokens.js';
import type { Config } from '../../settings.js';
import { ReadingsInFlight, type Admission } from '../../read-models/reading/in-flight.js';

/** Seconds after which some of a full pipeline will have been finished. */
const RETRY_AFTER = '10';

/** The id at the end of the path of a reading. */
const READING = /[\da-f-]{36}$/;

/** Refuses a workspace more readings while too many of its own are unfinished. Each mode has a count of its own. */
@Injectable()
export class InFlightGuard implements CanActivate {
  constructor(
    private readonly inFlight: ReadingsInFlight,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READINGS_IN_FLIGHT'>,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const caller = principalOf(http.getRequest<Request>());
    const limit = this.config.READINGS_IN_FLIGHT;
    const admitting = this.inFlight.admit(caller.workspaceId, caller.mode === 'live', limit);
    // A database that does not answer refuses nothing here: accepting the reading needs it too, and says so.
    const answer = await within(
      ASKED_WITHIN_MS,
      admitting.then((admission) => ({ admission })),
    );
    if (!answer) {
      this.withdrawWhenAdmitted(caller, admitting);
      return true;
    }
    if (answer.admission) {
      this.follow(caller, answer.admission, http.getResponse<Response>());
      return true;
    }
    throw new Problem('rate_limited', {
      detail: `${limit} readings are queued or processing; more are accepted when some have ended`,
      headers: { 'Retry-After': RETRY_AFTER },
    });
  }

  /** The request went on without its admission: what the count admits later counts for nobody. */
  private withdrawWhenAdmitted(caller: Principal, admitting: Promise<Admission | null>): void {
    admitting.then(
      (admission) => admission && this.withdraw(caller, admission),
      () => undefined,
    );
  }

  /** An accepted reading counts until it has a row; anything else no longer. A caller may have left before. */
  private follow(caller: Principal, admission: Admission, response: Response): void {
    const end = (): void => {
      const isNew = response.statusCode === 202 && !response.hasHeader('Idempotency-Replayed');
      const readingId = READING.exec(String(response.getHeader('Location') ?? ''))?.[0];
      if (isNew && readingId !== undefined) admission.readingId = readingId;
      else this.withdraw(caller, admission);
    };
    if (response.closed) end();
    else response.once('close', end);
  }

  private withdraw({ workspaceId, mode }: Principal, admission: Admission): void {
    this.inFlight.withdrawn(workspaceId, mode === 'live', admission);
  }
}
