import { Option, type Command } from 'commander';
import { ListWebhookEndpoints } from '#webhooks/contracts/index.js';
import { print, table } from '../../output.js';
import { withSession } from '../../session.js';

interface Options {
  readonly workspace?: string;
  readonly state?: 'ok' | 'failing' | 'disabled' | 'unverified';
}

export const addList = (webhooks: Command): void => {
  webhooks
    .command('list')
    .description('webhook endpoints and their state, longest waiting first')
    .option('--workspace <id>', 'of one workspace')
    .addOption(
      new Option('--state <state>', 'in one state').choices(['ok', 'failing', 'disabled', 'unverified']),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  ops webhooks list --state failing\n  ops webhooks list --workspace ws_… --json',
    )
    .action(async ({ workspace, state }: Options, command: Command) => {
      const all = await withSession(async ({ queries, requireWorkspace }) => {
        if (workspace !== undefined) await requireWorkspace(workspace);
        return queries.execute(new ListWebhookEndpoints(workspace ?? null));
      });
      const endpoints = all.filter(({ endpoint }) => state === undefined || endpoint.health.state === state);
      const rows = endpoints.map(({ endpoint, workspaceId, pending, queueAgeSeconds }) => [
        endpoint.endpointId,
        workspaceId,
        endpoint.health.state,
        pending,
        queueAgeSeconds,
        endpoint.url,
      ]);
      const head = ['endpoint', 'workspace', 'state', 'pending', 'due for s', 'url'];
      print(command, { endpoints }, table(head, rows));
    });
};
