import { setTimeout as delay } from 'node:timers/promises';
import { person } from '../../support/integrator.js';

/** How often a caller asks again before it gives up: more than any fault of a test lasts. */
const ATTEMPTS = 3_000;
const PAUSE_MS = 50;

/** Customers of one workspace. Each asks one API after the other, with one Idempotency-Key, until one accepts. */
export interface Load {
  /** The accepted readings. */
  readonly accepted: ReadonlySet<string>;
  /** How often callers were answered what, by status; 0 is no answer. */
  readonly answers: ReadonlyMap<number, number>;
  /** Allows more readings. Resolves when all that were allowed so far are accepted. */
  order(readings: number): Promise<void>;
}

/** @param urls of the APIs at this moment */
export const startLoad = (
  urls: () => readonly string[],
  { apiKey }: { readonly apiKey: string },
  prefix: string,
): Load => {
  const accepted = new Set<string>();
  const answers = new Map<number, number>();
  let asked = 0;

  const buy = async (): Promise<void> => {
    const key = `${prefix}-${(asked += 1)}`;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const apis = urls();
      const status = await ask(apis[(asked + attempt) % apis.length]!, key);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 202) return;
      await delay(PAUSE_MS);
    }
    throw new Error(`No API accepts ${key}: ${JSON.stringify([...answers])}`);
  };

  const ask = async (baseUrl: string, key: string): Promise<number> => {
    try {
      const answer = await fetch(`${baseUrl}/api/v1/readings`, {
        method: 'POST',
        headers: {
          'x-api-key': apiKey,
          'content-type': 'application/json',
          'idempotency-key': key,
          // A kept connection may end while it is idle, just as the next request goes out.
          connection: 'close',
        },
        body: JSON.stringify(person()),
      });
      const body = (await answer.json()) as { readingId?: string };
      if (answer.status === 202) accepted.add(body.readingId!);
      return answer.status;
    } catch {
      return 0;
    }
  };

  return {
    accepted,
    answers,
    order: async (readings) => {
      await Promise.all(Array.from({ length: readings }, buy));
    },
  };
};
