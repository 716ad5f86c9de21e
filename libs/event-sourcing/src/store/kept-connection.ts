import {
  afterCall,
  afterFreshAnswer,
  due,
  LEAST_FAILURES,
  newWatch,
  type CallOutcome,
  type ConnectionWatch,
} from './connection-watch.js';
import type { Connection } from './connection.js';
import { StoreUnavailable } from './errors.js';
import type { EventSubscription, SubscribeOptions } from './event-store.js';
import type { StoreConnection } from './store-connection.js';
import { openSubscription, type OpenSubscription } from './subscription.js';

interface KeepOptions {
  readonly open: () => Connection;
  /** One short read. A fresh connection may first have to find the leader. */
  readonly ask: (connection: Connection, how: { readonly isFresh: boolean }) => Promise<unknown>;
  readonly confirmWithinMs: number;
  readonly stuckAfterMs: number;
  /** After this long without a call, it makes one. */
  readonly quietMs: number;
  /** @param isWell a fault is over */
  readonly report: (message: string, isWell?: boolean) => void;
}

export interface KeptConnection extends StoreConnection {
  /** @throws StoreUnavailable during a renewal */
  current(): Connection;
  /** Makes a call and records what it shows about the connection. */
  observed<T>(kind: CallOutcome['kind'], call: () => Promise<T>): Promise<T>;
  subscribe(request: SubscribeOptions): EventSubscription;
  close(): Promise<void>;
}

const LOOKS_PER_STUCK = 10;

/** Keeps one connection to the store, and replaces it when its calls are stuck although the store answers others. */
export const keepConnected = (options: KeepOptions): KeptConnection => {
  const { open, ask, confirmWithinMs, stuckAfterMs, quietMs, report } = options;
  const bounds = { stuckAfterMs, quietMs };
  const now = (): number => performance.now();
  let connection: Connection | null = open();
  let watch: ConnectionWatch = newWatch(now());
  let [renewals, closed, looking, lastComplaint] = [0, false, false, ''];
  let gone: { readonly since: number; readonly renewals: number } | null = null;
  const subscriptions = new Set<OpenSubscription>();

  const current = (): Connection => {
    if (connection) return connection;
    throw new StoreUnavailable('The connection to the event store is being renewed', false);
  };

  /** Whoever calls the store fails too: the log needs one line when it goes and one when it is back. */
  const tell = (answered: boolean): void => {
    if (!answered && gone === null && (watch.read?.calls ?? 0) >= LEAST_FAILURES) {
      gone = { since: watch.read!.since, renewals };
      report('the event store does not answer; calls to it are tried again');
    } else if (answered && gone !== null) {
      const seconds = ((now() - gone.since) / 1_000).toFixed(1);
      const how = renewals > gone.renewals ? ', over a new connection' : '';
      report(`the event store answers again after ${seconds} s${how}`, true);
      gone = null;
    }
  };

  const observed = async <T>(kind: CallOutcome['kind'], call: () => Promise<T>): Promise<T> => {
    let answered = true;
    try {
      return await call();
    } catch (error) {
      answered = !(error instanceof StoreUnavailable);
      throw error;
    } finally {
      watch = afterCall(watch, { kind, answered, at: now() });
      if (kind === 'read') tell(answered);
    }
  };

  /** Ends the old connection too: nobody waits any longer for answers that it cannot give. */
  const renew = async (): Promise<void> => {
    const old = connection;
    connection = null;
    renewals += 1;
    const reason = new StoreUnavailable('The connection to the event store was renewed', false);
    for (const subscription of subscriptions) subscription.fail(reason);
    const closing = old?.close();
    if (!closed) connection = open();
    await closing;
  };

  /** Reports each error once, except that the store is down. Leaves the message out, because it may hold a URL. */
  const complain = (error: unknown): void => {
    if (error instanceof StoreUnavailable) return;
    const { name, code } = error as { name?: string; code?: string | number };
    const said = `looking after the connection to the event store failed: ${name} (${code ?? 'no code'})`;
    if (said !== lastComplaint) report(said);
    lastComplaint = said;
  };

  /** A connection that cannot be opened shows nothing about the store. */
  const answersAfresh = async (): Promise<boolean> => {
    let fresh: Connection | undefined;
    try {
      fresh = open();
      await ask(fresh, { isFresh: true });
      return true;
    } catch (error) {
      complain(error);
      return fresh !== undefined && !(error instanceof StoreUnavailable);
    } finally {
      await fresh?.close();
    }
  };

  const look = async (): Promise<void> => {
    if (!closed) connection ??= open();
    switch (due(watch, now(), bounds)) {
      case 'nothing':
        return;
      case 'call':
        await observed('read', () => ask(current(), { isFresh: false }));
        return;
      case 'ask afresh': {
        const wasBeyondHelp = watch.beyondHelp;
        const answered = await answersAfresh();
        // Read only now: other calls changed the watch in the meantime.
        const next = afterFreshAnswer(watch, answered, now(), bounds);
        watch = next.watch;
        if (next.renew) {
          if (gone === null)
            report(
              'calls of the event store fail while a fresh connection is answered: the connection is renewed',
            );
          await renew();
        }
        if (watch.beyondHelp && !wasBeyondHelp)
          report('calls of the event store fail on every new connection: this process must be restarted');
      }
    }
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
    current,
    observed,
    subscribe: (request) => {
      const subscription = openSubscription(current().located(), request, confirmWithinMs);
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
      await connection?.close();
    },
    get beyondHelp() {
      return watch.beyondHelp;
    },
    get renewals() {
      return renewals;
    },
    get waitingReads() {
      return connection?.slots.waiting ?? 0;
    },
    openCalls: () => {
      const append = connection?.appends.openCalls ?? 0;
      return { append, read: connection?.slots.used ?? 0, subscription: subscriptions.size };
    },
  };
};
