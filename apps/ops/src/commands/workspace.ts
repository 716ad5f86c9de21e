import { InvalidArgumentError, Option, type Command } from 'commander';
import { OpenBook } from '#billing/contracts/index.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import {
  type Chosen,
  ChoosePaper,
  ChooseWebhookContent,
  ListWorkspaces,
  OpenWorkspace,
  type Paper,
  PAPERS,
} from '#workspaces/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { withSession } from '../session.js';
import { someText } from './options.js';

interface WebhookOptions {
  readonly workspace: string;
  readonly externalId?: 'on' | 'off';
  readonly lowCredits?: number;
}

const readPercent = (text: string): number => {
  const percent = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  if (percent >= 0 && percent <= 90) return percent;
  throw new InvalidArgumentError('It must be a whole number from 0 to 90.');
};

const requireWorkspace = (workspaceId: string, { outcome }: Chosen): void => {
  if (outcome === 'unknown_workspace') throw new OpsError(`There is no workspace ${workspaceId}`);
};

const saidOfLowCredits = (workspaceId: string, percent: number): string =>
  percent === 0
    ? `${workspaceId} is not told of low credits`
    : `${workspaceId} is told when fewer than ${percent} % of its credits after the last top-up are left`;

export const addWorkspaceCommands = (workspace: Command): void => {
  workspace
    .command('create')
    .description('open a workspace and its credit book')
    .requiredOption('--name <name>', 'its display name', someText)
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
    .description('choose what the webhooks of a workspace tell, from the next one on')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(
      new Option('--external-id <choice>', "whether bodies show the callers' own ids of readings").choices([
        'on',
        'off',
      ]),
    )
    .addOption(
      new Option(
        '--low-credits <percent>',
        'tell when fewer credits than this share of the last top-up are left: 0 to 90, 0 is never',
      ).argParser(readPercent),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  ops workspace webhooks --workspace ws_… --external-id off\n  ops workspace webhooks --workspace ws_… --low-credits 25',
    )
    .action(async (options: WebhookOptions, command: Command) => {
      const { workspace: workspaceId, externalId, lowCredits: lowCreditsPercent } = options;
      if (externalId === undefined && lowCreditsPercent === undefined)
        throw new OpsError('Name what to choose: --external-id or --low-credits');
      const content = {
        ...(externalId === undefined ? {} : { externalId: externalId === 'on' }),
        ...(lowCreditsPercent === undefined ? {} : { lowCreditsPercent }),
      };
      const outcome = await withSession(({ commands, actor }) =>
        commands.execute(new ChooseWebhookContent(workspaceId, content, ownRequest(actor))),
      );
      requireWorkspace(workspaceId, outcome);
      const said = [
        ...(externalId === undefined
          ? []
          : [
              `Webhook bodies of ${workspaceId} show ${externalId === 'on' ? 'external ids' : 'no external ids'}`,
            ]),
        ...(lowCreditsPercent === undefined ? [] : [saidOfLowCredits(workspaceId, lowCreditsPercent)]),
      ];
      print(command, { workspaceId, externalId, lowCreditsPercent, ...outcome }, said.join('\n'));
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
      const outcome = await withSession(({ commands, actor }) =>
        commands.execute(new ChoosePaper(workspaceId, options.paper, ownRequest(actor))),
      );
      requireWorkspace(workspaceId, outcome);
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
