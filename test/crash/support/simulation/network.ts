import type { Cut, Life, Scheduler, Server } from './scheduler.js';

/** How long a process waits for an answer that does not come (ms). */
const GIVES_UP_MS = [500, 2_500] as const;
/** Probability that a process is cut from one of its servers while it runs. The other one it reaches. */
const PARTITIONED = 0.4;
const BEGINS_WITHIN_MS = 30_000;
const LASTS_MS = [300, 45_000] as const;

/** A call of a process to a server. */
export interface Call<T> {
  readonly label: string;
  readonly effect: () => T | Promise<T>;
  /** What the process finds when no answer comes. It cannot know whether the call took effect. */
  readonly gone: () => Error;
  readonly kind?: 'read' | 'write';
}

/** Whether a server's answers do not reach the process, nor what it sends unasked. */
export const isDeaf = ({ isRough }: Scheduler, { cuts }: Life, server: Server): boolean =>
  isRough && cuts.get(server) === 'answers';

/** Carries out a call. Over a cut network its request is lost, or takes effect and the answer is lost. */
export const callOver = <T>(
  scheduler: Scheduler,
  life: Life,
  server: Server,
  { label, effect, gone, kind }: Call<T>,
): Promise<T> =>
  scheduler.io(
    life,
    label,
    async () => {
      const cut = scheduler.isRough ? life.cuts.get(server) : undefined;
      if (cut === undefined) return effect();
      scheduler.unanswered += 1;
      if (cut === 'answers')
        await Promise.resolve()
          .then(effect)
          .catch(() => undefined);
      await scheduler.sleep(scheduler.random.between(...GIVES_UP_MS));
      throw gone();
    },
    kind,
  );

/** Plans a partition: for a while the process does not reach one of its servers, or does not hear it. */
export const maybePartition = (scheduler: Scheduler, { name, cuts }: Life): void => {
  const { random } = scheduler;
  if (!random.chance(PARTITIONED)) return;
  const server = random.pick<Server>(['eventStore', 'postgres']);
  const cut = random.pick<Cut>(['requests', 'answers']);
  scheduler.after(random.between(1, BEGINS_WITHIN_MS), `${name} loses ${cut} at ${server}`, () => {
    cuts.set(server, cut);
    scheduler.after(random.between(...LASTS_MS), `${name} has ${server} again`, () => cuts.delete(server));
  });
};
