import { Argument, Command } from 'commander';
import { clusterFaults } from './cluster-faults.js';
import type { Fault, Recovery } from './fault.js';
import { networkFaults } from './network-faults.js';
import { promotion } from './promotion.js';
import { realCluster } from './real-cluster.js';
import { stackFaults } from './stack-faults.js';

const FAULTS: readonly Fault[] = [networkFaults, clusterFaults, stackFaults, promotion, realCluster];

const command = new Command('recovery')
  .description('Measures how long the service takes to recover from faults of the stores and of the network.')
  .addArgument(
    new Argument('[names...]', 'kinds of faults; all by default').choices(FAULTS.map(({ name }) => name)),
  )
  .addHelpText(
    'after',
    `
real-cluster needs RECOVERY_NODE_COMMAND, the command line of one node of EventStoreDB or KurrentDB. It contains {port},
{replication}, {data} and {seeds}. The node serves 127.0.0.1 without TLS. The command runs three of them.

Examples:
  npm run recovery
  npm run recovery -- network`,
  )
  .parse();

const HEAD = `| fault | what succeeds again | seconds | of these, until the other side serves | calls failed for |
|---|---|---|---|---|`;
const lineOf = ({ fault, measured, seconds, otherSide, failing }: Recovery): string =>
  `| ${fault} | ${measured} | ${seconds.toFixed(1)} | ${otherSide?.toFixed(1) ?? ''} | ${failing.toFixed(1)} |`;

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const rows: Recovery[] = [];
for (const { name, run } of FAULTS) {
  if (command.args.length > 0 && !command.args.includes(name)) continue;
  say(`${name}…`);
  rows.push(...(await run(say)));
}
process.stdout.write(`${[HEAD, ...rows.map(lineOf)].join('\n')}\n`);
process.exit(0);
