import { VerifyLedger } from '#billing/contracts/index.js';
import { consumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { CHECKS, examineAll, STORES, type Check } from '../commands/doctor.js';
import type { Session } from '../session.js';
import { Run } from './run.js';
import { remembered, type Looks } from './visit.js';

/** Checks of the doctor that cost little, for a page that looks again by itself. */
const QUICK = new Set(['workers', 'lag', 'parked streams', 'set aside', 'jobs', 'clock', 'disk']);
/** Events that are counted after each checkpoint, at most. */
const LOOK_AHEAD = 1_000;
/** Forms whose outcome is remembered. */
const MOST_FORMS = 100;

/** What the pages of one process share. All of it comes from the functions of the commands. */
export const looksOf = (session: Session): Looks => {
  const { pool, store, queries } = session;
  const forms = new Map<string, Promise<unknown>>();
  return {
    lags: remembered(() => consumerLag(pool, store, { lookAhead: LOOK_AHEAD })),
    troubles: remembered(() =>
      examineAll(
        session,
        STORES,
        CHECKS.filter(({ name }) => QUICK.has(name)),
      ),
    ),
    doctor: new Run((progress) => examineCounting(session, progress)),
    verification: new Run((progress) => queries.execute(new VerifyLedger(null, progress))),
    once: <T>(key: string, work: () => Promise<T>): Promise<T> => {
      const known = forms.get(key) as Promise<T> | undefined;
      if (known) return known;
      const doing = work();
      forms.set(key, doing);
      // A form that was refused may be sent again.
      doing.catch(() => forms.delete(key));
      if (forms.size > MOST_FORMS) forms.delete(forms.keys().next().value!);
      return doing;
    },
  };
};

const examineCounting = (session: Session, progress: (done: number, total: number) => void) => {
  let done = 0;
  const total = STORES.length + CHECKS.length;
  const counted = (checks: readonly Check[]): readonly Check[] =>
    checks.map((check) => ({
      ...check,
      run: async (given) => {
        try {
          return await check.run(given);
        } finally {
          progress((done += 1), total);
        }
      },
    }));
  return examineAll(session, counted(STORES), counted(CHECKS));
};
