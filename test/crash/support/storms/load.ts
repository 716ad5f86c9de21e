import { setTimeout as delay } from 'node:timers/promises';
import { person, type Answer } from '../../../support/integrator.js';
import type { Random } from '../../../support/random.js';
import { APIS, type StormyService } from './stormy-service.js';

const ANSWERS_WITHIN_MS = 5_000;
const BETWEEN_TRIES_MS = 100;
/** Far longer than a storm. */
const ACCEPTED_WITHIN_MS = 600_000;

/** Statuses that ask the caller to come again: unavailable, or the same request is still under way. */
const COME_AGAIN = [503, 409];

/** What a customer ordered during storms, and what it may complain about. */
export class Orders {
  /** Accepted readings by Idempotency-Key. */
  readonly accepted = new Map<string, string>();
  readonly complaints: string[] = [];
  /** Answers that asked the caller to come again. */
  refusals = 0;

  constructor(private readonly service: StormyService) {}

  get readings(): ReadonlySet<string> {
    return new Set(this.accepted.values());
  }

  /** Orders a reading until it is accepted: over either API, after every lost answer with the same key. Then looks at it. */
  async order(key: string, random: Random): Promise<void> {
    for (const until = Date.now() + ACCEPTED_WITHIN_MS; Date.now() < until; await delay(BETWEEN_TRIES_MS)) {
      const caller = this.service.caller(random.pick(APIS));
      const answer = await inTime(caller.create(person(), { 'idempotency-key': key }));
      if (answer?.status === 202) {
        this.accepted.set(key, answer.body.readingId);
        return this.look(answer.body.readingId, random);
      }
      if (answer) this.judge(answer, `POST ${key}`);
    }
    this.complaints.push(`${key} was not accepted within ${ACCEPTED_WITHIN_MS} ms`);
  }

  private async look(readingId: string, random: Random): Promise<void> {
    const path = `/api/v1/readings/${readingId}`;
    const answer = await inTime(this.service.caller(random.pick(APIS)).call('GET', path));
    if (answer && answer.status !== 200) this.judge(answer, `GET ${path}`);
  }

  private judge({ status, headers, body }: Answer<unknown>, request: string): void {
    if (COME_AGAIN.includes(status) && headers.has('retry-after')) this.refusals += 1;
    else this.complaints.push(`${request}: ${status} ${JSON.stringify(body)}`);
  }
}

/** @returns `null` when the connection ends or no answer comes: the caller leaves, as people do */
const inTime = async <T>(answer: Promise<T>): Promise<T | null> => {
  const patience = new AbortController();
  const left = delay(ANSWERS_WITHIN_MS, null, { signal: patience.signal }).catch(() => null);
  try {
    return await Promise.race([answer.catch(() => null), left]);
  } finally {
    patience.abort();
  }
};
