import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { listenOnce } from '../../../apps/embedded/src/event-store-process.js';
import { after, type FaultKind, secondsUntil, startInstallation } from './installation.js';

const NODES = [0, 1, 2] as const;
const ANSWER_WITHIN_MS = 400;
/** Of the customer's book. A fold of it takes seconds on a busy machine. */
const ENTRIES = 20_000;
const PAUSE_MS = 800;

const gossip = z.object({
  members: z.array(z.object({ state: z.string(), isAlive: z.boolean(), httpEndPointPort: z.number() })),
});

/** Three nodes of EventStoreDB or KurrentDB on this machine. `RECOVERY_NODE_COMMAND` starts one. */
export const realCluster: FaultKind = {
  name: 'real-cluster',
  start: async () => {
    const command = process.env['RECOVERY_NODE_COMMAND'];
    if (command === undefined) return 'RECOVERY_NODE_COMMAND names no server';
    const cluster = await startRealCluster(command);
    const works = await startInstallation(cluster.connectionString, { apis: 2, entries: ENTRIES });
    let former: RealNode;
    let followers: readonly RealNode[] = [];
    const anotherLeads = (): Promise<number> =>
      secondsUntil(async () => ![former.port, null].includes(await cluster.leader()));
    const find = async (): Promise<RealNode> => {
      const port = await cluster.leader();
      return (former = cluster.nodes.find((one) => one.port === port)!);
    };
    return {
      works,
      faults: [
        {
          fault: 'three nodes: the leader is killed (SIGKILL)',
          inflict: async () => (await find()).signal('SIGKILL'),
          otherSide: anotherLeads,
          mend: cluster.whole,
        },
        {
          fault: 'three nodes: the leader freezes (SIGSTOP)',
          inflict: async () => (await find()).signal('SIGSTOP'),
          otherSide: anotherLeads,
          mend: async () => {
            former.signal('SIGCONT');
            await cluster.whole();
          },
        },
        {
          fault: 'three nodes: both followers stop for 0.8 s (SIGSTOP)',
          inflict: async () => {
            followers = await cluster.followers();
            for (const follower of followers) follower.signal('SIGSTOP');
          },
          otherSide: after(PAUSE_MS, () => {
            for (const follower of followers) follower.signal('SIGCONT');
          }),
          mend: cluster.whole,
        },
        {
          fault: 'three nodes: each is restarted in turn, the leader last and after it has resigned',
          inflict: () => undefined,
          otherSide: async () => {
            const startedAt = performance.now();
            for (const follower of await cluster.followers()) {
              await follower.end('SIGTERM');
              await cluster.whole();
            }
            await resign((await find()).port);
            await anotherLeads();
            await former.end('SIGTERM');
            await cluster.whole();
            return (performance.now() - startedAt) / 1_000;
          },
        },
      ],
      stop: [works.stop, cluster.stop],
    };
  },
};

interface RealNode {
  readonly port: number;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Resolves when the process has ended. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
}

const startRealCluster = async (command: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'recovery-cluster-'));
  const ports = await Promise.all([...NODES, ...NODES].map(() => listenOnce(0, '127.0.0.1')));
  const children = new Map<number, ChildProcess>();
  const start = (index: number): void => {
    const data = join(folder, String(index));
    mkdirSync(data, { recursive: true });
    const seeds = NODES.filter((one) => one !== index).map((one) => `127.0.0.1:${ports[one]}`);
    const line = command
      .replaceAll('{port}', String(ports[index]))
      .replaceAll('{replication}', String(ports[index + NODES.length]))
      .replaceAll('{data}', data)
      .replaceAll('{seeds}', seeds.join(','));
    children.set(index, spawn('sh', ['-c', `exec ${line}`], { stdio: 'ignore' }));
  };
  const asked = async (index: number) => {
    const answer = await fetch(`http://127.0.0.1:${ports[index]}/gossip`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    return gossip.parse(await answer.json()).members;
  };
  /** The node that says of itself that it leads. */
  const leader = async (): Promise<number | null> => {
    const leaders = await Promise.all(
      NODES.map(async (index) => {
        const members = await asked(index).catch(() => []);
        const own = members.find(({ httpEndPointPort: port }) => port === ports[index]);
        return own?.state === 'Leader' ? ports[index]! : null;
      }),
    );
    return leaders.findLast((port) => port !== null) ?? null;
  };
  const isWhole = async (): Promise<boolean> => {
    const views = await Promise.all(NODES.map((index) => asked(index)));
    return views.every(
      (members) =>
        members.filter(({ state }) => state === 'Follower').length === 2 &&
        members.filter(({ state, isAlive }) => state === 'Leader' && isAlive).length === 1,
    );
  };
  /** A former leader ends by itself, too, when it has to cut off what the others lack. */
  const startEnded = (): void => {
    for (const [index, child] of children)
      if (child.exitCode !== null || child.signalCode !== null) start(index);
  };
  const whole = async (): Promise<void> =>
    void (await secondsUntil(() => {
      startEnded();
      return isWhole();
    }));
  for (const index of NODES) start(index);
  await whole();
  const nodes = NODES.map((index): RealNode => ({
    port: ports[index]!,
    signal: (signal) => void children.get(index)!.kill(signal),
    end: async (signal) => {
      const child = children.get(index)!;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  }));
  return {
    connectionString: `esdb://${NODES.map((index) => `127.0.0.1:${ports[index]}`).join(',')}?tls=false`,
    nodes,
    leader,
    followers: async (): Promise<readonly RealNode[]> => {
      const leads = await leader();
      return nodes.filter(({ port }) => port !== leads);
    },
    whole,
    stop: async (): Promise<void> => {
      for (const node of nodes) {
        node.signal('SIGCONT');
        await node.end('SIGKILL');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** What the guide for operators says before a leader is restarted. */
const resign = async (port: number): Promise<void> => {
  for (const path of ['priority/-1', 'resign']) {
    const { ok, status } = await fetch(`http://127.0.0.1:${port}/admin/node/${path}`, { method: 'POST' });
    if (!ok) throw new Error(`The leader answers ${status} to ${path}`);
  }
};
