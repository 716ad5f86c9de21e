import type { Command } from 'commander';
import { EnableWebhookEndpoint } from '#webhooks/contracts/index.js';
import { print } from '../../output.js';
import { withSession } from '../../session.js';
import { refusedBecause, requireEndpoint } from './endpoint.js';

export const addEnable = (webhooks: Command): void => {
  webhooks
    .command('enable')
    .description('enable an endpoint and reset its failures; does not send what it missed')
    .requiredOption('--endpoint <id>', 'the endpoint')
    .addHelpText('after', '\nExample:\n  ops webhooks enable --endpoint we_…')
    .action(async ({ endpoint: endpointId }: { endpoint: string }, command: Command) => {
      const answer = await withSession(async (session) => {
        const { workspaceId } = await requireEndpoint(session, endpointId);
        return session.commands.execute(new EnableWebhookEndpoint(endpointId, workspaceId, session.by()));
      });
      if (answer.outcome !== 'enabled') throw refusedBecause(answer);
      const { record, skippedDeliveries } = answer;
      const missed = `${skippedDeliveries} deliveries were skipped in the meantime: ops webhooks replay sends them.`;
      print(
        command,
        { endpoint: record, skippedDeliveries },
        skippedDeliveries === null ? 'Already enabled' : `Enabled; ${missed}`,
      );
    });
};
