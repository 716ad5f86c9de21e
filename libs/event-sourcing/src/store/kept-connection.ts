import { excludeSystemEvents, START, streamNameFilter, type Filter } from '@eventstore/db-client';
import { classify, noAnswer, StoreUnavailable } from './errors.js';
import type { EventSubscription, SubscribeOptions, StoreConnection } from './event-store.js';
import { storedEvent } from './read-stream.js';
import { settledSoon, type StoreClient } from './store-client.js';
import type { Connection } from './connection.js';

export interface OpenSubscription extends EventSubscription {
  /** Ends it with an error for its reader, because its connection is being replaced. */
  fail(error: Error): void;
}

const CHECKPOINT_EVERY = 32;

/**
 * Subscriptions exclude the position they start from, so the checkpoint itself is the argument.
 * @param located resolves when the client is that of the leader
 * @param confirmWithinMs a subscription without confirmation by then fails, also while it waits for a free call
 */
export const openSubscription = (
  located: Promise<StoreClient>,
  { after, categories, onCheckpoint, checkpointEvery = CHECKPOINT_EVERY }: SubscribeOptions,
  confirmWithinMs: number,
): OpenSubscription => {
  /** Events that the reader has dealt with, and that it has got. */
  let [handled, taken] = [0, 0];
  /** Each holds for the events before it, of which some may still wait for the reader. */
  const checkpoints: { readonly position: bigint; readonly behind: number }[] = [];
  const report = (): void => {
    while (checkpoints[0] && checkpoints[0].behind <= handled) {
      const { position } = checkpoints.shift()!;
      onCheckpoint?.(position);
    }
  };
  const start = (client: StoreClient) => {
    const stream = client.subscribeToAll({
      fromPosition: after === null ? START : { commit: after, prepare: after },
      filter: filterOf(categories, checkpointEvery, (subscription, { commit }) => {
        // By then the reader has counted an event that has left the stream in this turn of the event loop.
        setImmediate(() => {
          checkpoints.push({ position: commit, behind: taken + subscription.readableLength });
          if (!subscription.destroyed) report();
        });
      }),
    });
    return stream
      .on('confirmation', () => clearTimeout(unconfirmed))
      .on('error', (error) => void stream.destroy(error));
  };
  let failure: Error | undefined;
  const unconfirmed = setTimeout(
    () => fail(noAnswer('a subscription', confirmWithinMs, false)),
    confirmWithinMs,
  );
  const opened = located.then(start);
  opened.catch(() => clearTimeout(unconfirmed));
  /** Destroying the stream alone would leave the call open as long as the server has more to send. */
  const leave = async (error?: Error): Promise<void> => {
    clearTimeout(unconfirmed);
    const stream = await opened;
    stream.destroy(error);
    await stream.unsubscribe();
  };
  const fail = (error: Error): void => {
    failure ??= error;
    leave(error).catch(() => undefined);
  };

  return {
    fail,
    async *[Symbol.asyncIterator]() {
      try {
        if (failure) throw failure;
        for await (const answer of await opened) {
          taken += 1;
          yield storedEvent(answer);
          handled = taken;
          report();
        }
      } catch (error) {
        throw classify(failure ?? error, false);
      }
    },
    close: () => settledSoon(leave()),
  };
};

/** Without categories: all streams but the system's. */
const filterOf = (
  categories: readonly string[],
  maxSearchWindow: number,
  checkpointReached: NonNullable<Filter['checkpointReached']>,
): Filter => {
  const options = { maxSearchWindow, checkpointInterval: 1, checkpointReached };
  return categories.length === 0
    ? excludeSystemEvents(options)
    : streamNameFilter({ ...options, prefixes: categories.map((category) => `${category}-`) });
};

interface KeepOptions {
  readonly open: () => Connection;
  /** One short read. A fresh connection may first have to find the leader. */
  readonly ask: (connection: Connection, how: { readonly isFresh: boolean }) => Promise<unknown>;
  readonly confirmWithinMs: number;
  /** Reads are stuck when they fail for so long without an answer, and at least {@link LEAST_FAILURES} times. */
  readonly stuckAfterMs: number;
  /** After this long without a read, it makes one. */
  readonly quietMs: number;
  /** @param isWell a fault is over */
  readonly report: (message: string, isWell?: boolean) => void;
}

export interface KeptConnection extends StoreConnection {
  current(): Connection;
  /** Makes a read and records what it shows about the connection. */
  observed<T>(read: () => Promise<T>): Promise<T>;
  subscribe(request: SubscribeOptions): EventSubscription;
  close(): Promise<void>;
}

const LEAST_FAILURES = 3;
/** If reads still fail after this many renewals, the process cannot help itself. */
const RENEWALS_WORTH_TRYING = 2;
const LOOKS_PER_STUCK = 10;

/**
 * Keeps one connection to the store. When its reads are stuck, another is opened, and takes its place once the store has
 * answered over it: while the store answers nobody, the one in use is as good.
 */
export const keepConnected = (options: KeepOptions): KeptConnection => {
  const { open, ask, confirmWithinMs, stuckAfterMs, quietMs, report } = options;
  const now = (): number => performance.now();
  let connection = open();
  /** Reads without an answer since the last one that had one. */
  let failing: { readonly since: number; calls: number } | null = null;
  let lastReadAt = now();
  let [renewals, inVain, closed, looking, lastComplaint] = [0, 0, false, false, ''];
  let gone: { readonly since: number; readonly renewals: number } | null = null;
  const subscriptions = new Set<OpenSubscription>();

  const observed = async <T>(read: () => Promise<T>): Promise<T> => {
    let answered = true;
    try {
      return await read();
    } catch (error) {
      answered = !(error instanceof StoreUnavailable);
      throw error;
    } finally {
      lastReadAt = now();
      if (answered) [failing, inVain] = [null, 0];
      else (failing ??= { since: lastReadAt, calls: 0 }).calls += 1;
      tell(answered);
    }
  };

  /** Whoever calls the store fails too: the log needs one line when it goes and one when it is back. */
  const tell = (answered: boolean): void => {
    if (!answered && gone === null && failing !== null && failing.calls >= LEAST_FAILURES) {
      gone = { since: failing.since, renewals };
      report('the event store does not answer; calls to it are tried again');
    } else if (answered && gone !== null) {
      const seconds = ((now() - gone.since) / 1_000).toFixed(1);
      const how = renewals > gone.renewals ? ', over a new connection' : '';
      report(`the event store answers again after ${seconds} s${how}`, true);
      gone = null;
    }
  };

  /** Reports each error once, except that the store is down. Leaves the message out, because it may hold a URL. */
  const complain = (error: unknown): void => {
    if (error instanceof StoreUnavailable) return;
    const { name, code } = error as { name?: string; code?: string | number };
    const said = `looking after the connection to the event store failed: ${name} (${code ?? 'no code'})`;
    if (said !== lastComplaint) report(said);
    lastComplaint = said;
  };

  const renew = async (): Promise<void> => {
    const stuck = failing;
    const next = open();
    const answered = await ask(next, { isFresh: true }).then(
      () => true,
      (error: unknown) => {
        complain(error);
        return !(error instanceof StoreUnavailable);
      },
    );
    const isStillStuck = failing === stuck && !closed;
    if (failing === stuck) failing = null;
    if (!answered || !isStillStuck) return next.close();
    const old = connection;
    connection = next;
    [renewals, inVain] = [renewals + 1, inVain + 1];
    if (inVain === RENEWALS_WORTH_TRYING + 1)
      report('calls of the event store fail on every new connection: this process must be restarted');
    // Nobody waits any longer for answers that the old one cannot give.
    const reason = new StoreUnavailable('The connection to the event store was renewed', false);
    for (const subscription of subscriptions) subscription.fail(reason);
    await old.close();
  };

  const look = async (): Promise<void> => {
    if (failing && failing.calls >= LEAST_FAILURES && now() - failing.since >= stuckAfterMs) await renew();
    else if (now() - lastReadAt >= quietMs) await observed(() => ask(connection, { isFresh: false }));
  };

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch(complain)
      .finally(() => (looking = false));
  }, stuckAfterMs / LOOKS_PER_STUCK);
  timer.unref();

  return {
    current: () => connection,
    observed,
    subscribe: (request) => {
      const subscription = openSubscription(connection.located(), request, confirmWithinMs);
      subscriptions.add(subscription);
      return {
        [Symbol.asyncIterator]: () => subscription[Symbol.asyncIterator](),
        close: () => {
          subscriptions.delete(subscription);
          return subscription.close();
        },
      };
    },
    close: async () => {
      closed = true;
      clearInterval(timer);
      await connection.close();
    },
    get beyondHelp() {
      return inVain > RENEWALS_WORTH_TRYING;
    },
    get renewals() {
      return renewals;
    },
    get waitingReads() {
      return connection.slots.waiting;
    },
    openCalls: () => ({
      append: connection.appends.openCalls,
      read: connection.slots.used,
      subscription: subscriptions.size,
    }),
  };
};
