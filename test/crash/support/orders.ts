import { setTimeout as delay } from 'node:timers/promises';
import { person, type Answer, type Integrator } from '../../support/integrator.js';

const ANSWERS_WITHIN_MS = 5_000;
const BETWEEN_TRIES_MS = 50;
/** Far longer than any fault of a test lasts. */
const ACCEPTED_WITHIN_MS = 600_000;
/** Statuses that ask the caller to come again: unavailable, or the same request is still under way. */
const COME_AGAIN = [503, 409];

/** What a customer orders while something fails, and what it may complain about. */
export class Orders {
  /** Accepted readings by Idempotency-Key. */
  readonly accepted = new Map<string, string>();
  readonly complaints: string[] = [];
  /** Answers that asked the caller to come again. */
  refusals = 0;

  /** @param caller the customer at the API that it asks next */
  constructor(private readonly caller: () => Integrator) {}

  get readings(): ReadonlySet<string> {
    return new Set(this.accepted.values());
  }

  /** Orders a reading for each key, all at once. Resolves when all are accepted. */
  async order(...keys: readonly string[]): Promise<void> {
    const order = async (key: string): Promise<void> => {
      const answer = await this.ask<{ readingId: string }>('readings', key, person());
      if (answer) this.accepted.set(key, answer.body.readingId);
    };
    await Promise.all(keys.map(order));
  }

  /**
   * Posts until it is answered, after every lost answer with the same key.
   * @returns an answer with one of these statuses; `null`, and a complaint, when there is none
   */
  async ask<T>(path: string, key: string, body: object, wanted = [202]): Promise<Answer<T> | null> {
    for (const until = Date.now() + ACCEPTED_WITHIN_MS; Date.now() < until; await delay(BETWEEN_TRIES_MS)) {
      const asked = { body, headers: { 'idempotency-key': key } };
      const answer = await inTime(this.caller().call<T>('POST', `/api/v1/${path}`, asked));
      if (answer && wanted.includes(answer.status)) return answer;
      if (answer) this.judge(answer, `POST ${path} ${key}`);
    }
    this.complaints.push(`${key} was not accepted within ${ACCEPTED_WITHIN_MS} ms`);
    return null;
  }

  /** Looks at one of the accepted readings, over one API. */
  async look(key: string): Promise<void> {
    const path = `/api/v1/readings/${this.accepted.get(key)}`;
    const answer = await inTime(this.caller().call('GET', path));
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
