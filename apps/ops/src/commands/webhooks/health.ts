import { InvalidArgumentError, type Command } from 'commander';
import { ListWebhookEndpoints, type EndpointHealth } from '#webhooks/contracts/index.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';
import { requireEndpoint } from './endpoint.js';

interface Options {
  readonly endpoint?: string;
  readonly maxQueueAge?: number;
}

export const addHealth = (webhooks: Command): void => {
  webhooks
    .command('health')
    .description('queue age, attempts of the last 24 hours by outcome, failing and disabled endpoints')
    .option('--endpoint <id>', 'of one endpoint')
    .option('--max-queue-age <seconds>', 'exit with 1 when a delivery has been due for longer', parseSeconds)
    .addHelpText(
      'after',
      '\nExamples:\n  ops webhooks health --json\n  ops webhooks health --max-queue-age 60   # for a monitor',
    )
    .action(async ({ endpoint, maxQueueAge }: Options, command: Command) => {
      const endpoints = await withSession(async (session) => {
        if (endpoint !== undefined) await requireEndpoint(session, endpoint);
        return session.queries.execute(new ListWebhookEndpoints(null, endpoint ?? null));
      });
      const health = summary(endpoints);
      print(command, health, describe(health));
      if (maxQueueAge !== undefined && health.queueAgeSeconds > maxQueueAge) process.exitCode = 1;
    });
};

const STATES = ['ok', 'failing', 'disabled', 'unverified'] as const;

const summary = (all: readonly EndpointHealth[]) => {
  const attempts: Record<string, number> = {};
  for (const { attempts: own } of all)
    for (const [ended, count] of Object.entries(own)) attempts[ended] = (attempts[ended] ?? 0) + count;
  return {
    endpoints: Object.fromEntries(
      STATES.map((state) => [state, all.filter(({ endpoint }) => endpoint.health.state === state).length]),
    ),
    pending: all.reduce((sum, { pending }) => sum + pending, 0),
    queueAgeSeconds: Math.max(0, ...all.map(({ queueAgeSeconds }) => queueAgeSeconds)),
    /** Of the last 24 hours. */
    attempts,
    troubled: all.filter(({ endpoint }) => endpoint.health.state !== 'ok'),
  };
};

const describe = ({ endpoints, pending, queueAgeSeconds, attempts, troubled }: ReturnType<typeof summary>) =>
  [
    `Endpoints: ${STATES.map((state) => `${endpoints[state]} ${state}`).join(', ')}`,
    `Pending deliveries: ${pending}; the longest due for ${queueAgeSeconds} s`,
    `Attempts of the last 24 hours: ${
      Object.entries(attempts)
        .map(([ended, count]) => `${count} ${ended}`)
        .join(', ') || 'none'
    }`,
    ...(troubled.length === 0
      ? []
      : [
          '',
          table(
            ['endpoint', 'workspace', 'state', 'reason', 'failures', 'failing since', 'last success'],
            troubled.map(({ endpoint: { endpointId, health }, workspaceId, lastSuccessAt }) => [
              endpointId,
              workspaceId,
              health.state,
              health.disabledReason ?? '',
              health.consecutiveFailures,
              health.failingSince ?? '',
              lastSuccessAt ?? 'never',
            ]),
          ),
        ]),
  ].join('\n');

function parseSeconds(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('must be a whole number of seconds');
  return Number(text);
}
