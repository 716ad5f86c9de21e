import { Argument, Command } from 'commander';
import { diskFaults, networkFaults, promotion, stackFaults } from './faults.js';
import { type FaultKind, measure, type Recovery } from './installation.js';
import { realCluster } from './real-cluster.js';

const KINDS: readonly FaultKind[] = [networkFaults, stackFaults, diskFaults, promotion, realCluster];

const command = new Command('recovery')
  .description('Measures how long the service takes to recover from faults of the stores and of the network.')
  .addArgument(
    new Argument('[names...]', 'kinds of faults; all by default').choices(KINDS.map(({ name }) => name)),
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
for (const { name, start } of KINDS) {
  if (command.args.length > 0 && !command.args.includes(name)) continue;
  say(`${name}…`);
  const started = await start();
  if (typeof started === 'string') {
    say(`  left out: ${started}`);
    continue;
  }
  try {
    for (const fault of started.faults) rows.push(...(await measure(started.works, fault, say)));
  } finally {
    for (const stop of started.stop) await stop();
  }
}
process.stdout.write(`${[HEAD, ...rows.map(lineOf)].join('\n')}\n`);
process.exit(0);
