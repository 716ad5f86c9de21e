import { Option, type Command } from 'commander';
import { OpenBook } from '@app/billing/contracts/index.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import { ChoosePaper, type Paper, PAPERS } from '@app/publishing/contracts/index.js';
import { ChooseWebhookContent } from '@app/webhooks/contracts/index.js';
import { ListWorkspaces, OpenWorkspace, WorkspaceExists } from '@app/workspaces/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { withSession } from '../session.js';

export const addWorkspaceCommands = (workspace: Command): void => {
  workspace
    .command('create')
    .description('open a workspace and its credit book')
    .requiredOption('--name <name>', 'its display name')
    .addHelpText('after', '\nExample:\n  ops workspace create --name "Atelier Lumière"')
    .action(async ({ name }: { name: string }, command: Command) => {
      const created = await withSession(async ({ commands, actor, by }) => {
        const { workspaceId } = await commands.execute(new OpenWorkspace(name, ownRequest(actor)));
        await commands.execute(new OpenBook(workspaceId, by()));
        return { workspaceId };
      });
      print(command, created, `Opened ${created.workspaceId}`);
    });
  workspace
    .command('webhooks')
    .description('choose what the webhook bodies of a workspace show, from the next event on')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(
      new Option('--external-id <choice>', "the callers' own ids of readings")
        .choices(['on', 'off'])
        .makeOptionMandatory(),
    )
    .addHelpText('after', '\nExample:\n  ops workspace webhooks --workspace ws_… --external-id off')
    .action(async (options: { workspace: string; externalId: 'on' | 'off' }, command: Command) => {
      const workspaceId = options.workspace;
      const outcome = await withSession(async ({ commands, queries, actor }) => {
        if (!(await queries.execute(new WorkspaceExists(workspaceId))))
          throw new OpsError(`There is no workspace ${workspaceId}`);
        const content = { externalId: options.externalId === 'on' };
        return commands.execute(new ChooseWebhookContent(workspaceId, content, ownRequest(actor)));
      });
      const said = `Webhook bodies of ${workspaceId} show ${options.externalId === 'on' ? 'external ids' : 'no external ids'}`;
      print(command, { workspaceId, externalId: options.externalId, ...outcome }, said);
    });
  workspace
    .command('booklet')
    .description('choose the paper of the PDFs of a workspace, from the next publication on')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(
      new Option('--paper <paper>', 'by-locale: A4 for fr-FR, US Letter for en-US')
        .choices(PAPERS)
        .makeOptionMandatory(),
    )
    .addHelpText('after', '\nExample:\n  ops workspace booklet --workspace ws_… --paper a4')
    .action(async (options: { workspace: string; paper: Paper }, command: Command) => {
      const workspaceId = options.workspace;
      const outcome = await withSession(async ({ commands, queries, actor }) => {
        if (!(await queries.execute(new WorkspaceExists(workspaceId))))
          throw new OpsError(`There is no workspace ${workspaceId}`);
        return commands.execute(new ChoosePaper(workspaceId, options.paper, ownRequest(actor)));
      });
      const said = `PDFs of ${workspaceId} are made on ${options.paper === 'by-locale' ? 'the paper of their locale' : options.paper}`;
      print(command, { workspaceId, paper: options.paper, ...outcome }, said);
    });
  workspace
    .command('list')
    .description('list workspaces, oldest first')
    .action(async (_: object, command: Command) => {
      const workspaces = await withSession(({ queries }) => queries.execute(new ListWorkspaces()));
      const rows = workspaces.map(({ workspaceId, name, openedAt, activeKeys }) => [
        workspaceId,
        name,
        openedAt,
        activeKeys,
      ]);
      print(command, { workspaces }, table(['workspace', 'name', 'opened', 'keys'], rows));
    });
};
