import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const POLL_MS = 50;

/** The part of the answer to `GET /gossip` that shows whether a node takes appends. */
const gossip = z.object({ members: z.array(z.object({ state: z.string(), isAlive: z.boolean() })) });

/** An event store that a command line starts, in place of the embedded one. */
export interface OtherEventStore {
  readonly command: string;
  readonly args: readonly string[];
  readonly port: number;
  readonly url: string;
  /** Resolves when the store has a leader. Never rejects. */
  readonly leads: () => Promise<void>;
}

/**
 * Fills in `{port}` and `{data}`, the absolute path of a folder. The store serves 127.0.0.1 without TLS and without a
 * login, as EventStoreDB and KurrentDB do with `--insecure`. The shell gives its process to the store, so signals reach
 * it. The store gets SIGTERM when its standard input closes.
 */
export const otherEventStore = (commandLine: string, port: number, data: string): OtherEventStore => {
  const filled = commandLine.replaceAll('{port}', String(port)).replaceAll('{data}', quoted(data));
  return {
    command: 'sh',
    args: ['-c', `${WATCH_STANDARD_INPUT}\nexec ${filled}`],
    port,
    url: `esdb://127.0.0.1:${port}?tls=false`,
    leads: async () => {
      while (!(await hasLeader(port))) await sleep(POLL_MS);
    },
  };
};

/** A job in the background has no standard input of its own, hence the copy. */
const WATCH_STANDARD_INPUT = 'exec 3<&0 </dev/null\n( cat <&3; kill -TERM $$ ) >/dev/null 2>&1 &\nexec 3<&-';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const hasLeader = async (port: number): Promise<boolean> => {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/gossip`, { signal: AbortSignal.timeout(1_000) });
    const { members } = gossip.parse(await answer.json());
    return members.some(({ state, isAlive }) => isAlive && state === 'Leader');
  } catch {
    return false;
  }
};
