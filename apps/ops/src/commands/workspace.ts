import type { Command } from 'commander';
import { OpenBook } from '@app/billing/contracts/index.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import { ListWorkspaces, OpenWorkspace } from '@app/workspaces/contracts/index.js';
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
