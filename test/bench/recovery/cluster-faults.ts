import { startCluster, type ClusterNode } from '#event-sourcing/testing/cluster.js';
import type { Fault } from './fault.js';
import { measureAll, startInstallation, startStore, type Measured } from './installation.js';

/** As long as an election takes on a quiet machine. */
const ELECTION_MS = 2_000;

/** A stand-in for a cluster of three, whose nodes share one log. */
export const clusterFaults: Fault = {
  name: 'cluster',
  run: async (say) => {
    const store = await startStore();
    const cluster = await startCluster(store.port);
    const installation = await startInstallation(cluster.connectionString);
    const nodes = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
    let leader = nodes[0];
    const next = (): ClusterNode => nodes[(nodes.indexOf(leader) + 1) % nodes.length]!;
    const elect = (): void => {
      leader = next();
      cluster.lead(leader);
    };
    const afterElection = (): Promise<number> =>
      new Promise((resolve) =>
        setTimeout(() => {
          elect();
          resolve(ELECTION_MS / 1_000);
        }, ELECTION_MS),
      );
    const mend = (): void => {
      for (const { network } of nodes) {
        network.refuse(false);
        network.release();
      }
    };
    const kill = (): void => {
      leader.network.refuse(true);
      leader.network.cut();
    };
    const faults: readonly Measured[] = [
      { fault: 'stand-in cluster: the leader hands over', inflict: elect },
      {
        fault: 'stand-in cluster: no leader for 2 s',
        inflict: () => cluster.lead(null),
        otherSide: afterElection,
      },
      {
        fault: 'stand-in cluster: the leader is killed, the next one leads after 2 s',
        inflict: () => {
          kill();
          cluster.lead(null);
        },
        otherSide: afterElection,
        mend,
      },
      {
        fault: 'stand-in cluster: the leader freezes, the next one leads after 2 s',
        inflict: () => leader.network.hold('all'),
        otherSide: afterElection,
        mend,
      },
    ];
    try {
      return await measureAll(installation, faults, say);
    } finally {
      await installation.stop();
      await cluster.stop();
      await store.stop();
    }
  },
};
