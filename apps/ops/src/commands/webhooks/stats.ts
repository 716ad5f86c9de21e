import { InvalidArgumentError, type Command } from 'commander';
import {
  FindVerification,
  GetEndpointStats,
  RECENT_HOURS,
  firstHour,
  type AttemptFigures,
  type EndpointHealth,
  type EndpointStats,
  type VerificationRecord,
} from '#webhooks/contracts/index.js';
import { instant } from '#event-sourcing/core/clock.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { requireEndpoint } from './endpoint.js';

const MOST_HOURS = 35 * 24;

interface Options {
  readonly endpoint: string;
  readonly hours: number;
}

export const addStats = (webhooks: Command): void => {
  webhooks
    .command('stats')
    .description('attempts of an endpoint by hour and outcome, and whether it is verified')
    .requiredOption('--endpoint <id>', 'which endpoint')
    .option('--hours <n>', `hours back from now, 1 to ${MOST_HOURS}`, parseHours, RECENT_HOURS)
    .addHelpText(
      'after',
      '\nExamples:\n  ops webhooks stats --endpoint we_…\n  ops webhooks stats --endpoint we_… --hours 168 --json',
    )
    .action(async ({ endpoint, hours }: Options, command: Command) => {
      const now = Date.now();
      const [since, until] = [instant(firstHour(now, hours)), instant(now)];
      const shown = await withSession(async (session) => {
        const { endpoint: record } = await requireEndpoint(session, endpoint);
        return {
          endpointId: endpoint,
          state: record.health.state,
          verification: await session.queries.execute(new FindVerification(endpoint)),
          since,
          until,
          ...(await session.queries.execute(new GetEndpointStats(endpoint, since, until))),
        };
      });
      print(command, shown, describe(shown));
    });
};

interface Shown extends EndpointStats {
  readonly state: EndpointHealth['endpoint']['health']['state'];
  readonly verification: VerificationRecord | null;
}

const describe = ({ state, verification, hours, total }: Shown): string =>
  [
    `State: ${state}`,
    `Verification: ${verification === null ? 'no probe is needed' : describeProbes(verification)}`,
    '',
    hours.length === 0
      ? 'No attempts in this time.'
      : table(
          ['hour', 'succeeded', 'failed', 'p50 ms', 'p95 ms', 'p99 ms', 'failures'],
          [...hours.map((one) => [one.hour, ...columns(one)]), ['total', ...columns(total)]],
        ),
  ].join('\n');

const describeProbes = ({ askedAt, attempts, nextProbeAt, lastError }: VerificationRecord): string =>
  `waits since ${askedAt}; ${attempts} probes sent, last failure ${lastError ?? 'none'}; next probe ${nextProbeAt}`;

const columns = ({ attempts, latencyMs }: AttemptFigures): readonly (string | number)[] => {
  const { succeeded = 0, ...failures } = attempts;
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0);
  const reasons = Object.entries(failures).map(([error, count]) => `${count} ${error}`);
  return [
    succeeded,
    failed,
    latencyMs?.p50 ?? '',
    latencyMs?.p95 ?? '',
    latencyMs?.p99 ?? '',
    reasons.join(', '),
  ];
};

function parseHours(text: string): number {
  const hours = Number(text);
  if (!/^\d{1,3}$/.test(text) || hours < 1 || hours > MOST_HOURS)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${MOST_HOURS}`);
  return hours;
}
