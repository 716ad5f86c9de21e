import { InvalidArgumentError, Option, type Command } from 'commander';
import { OpenBook } from '#billing/contracts/index.js';
import { MODES } from '#event-sourcing/core/request-context.js';
import { SESSION_SCOPES } from '#platform/auth/scopes.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import {
  ChooseForWorkspace,
  ListWorkspaces,
  MAX_SESSION_SECONDS,
  OpenPortal,
  OpenWorkspace,
  PAPERS,
  PORTAL_LANGUAGES,
  portalUrl,
  type Chosen,
  type Paper,
  type PortalLanguage,
} from '#workspaces/contracts/index.js';
import { OpsError, print, tableOf } from '../output.js';
import { withSession } from '../session.js';
import { example, scopesAmong, someText, wholeFrom } from './options.js';

type ContentOptions = { workspace: string; externalId?: 'on' | 'off'; lowCredits?: number };

const requireWorkspace = (workspaceId: string, { outcome }: Chosen): void => {
  if (outcome === 'unknown_workspace') throw new OpsError(`There is no workspace ${workspaceId}`);
};

const saidOfLowCredits = (workspaceId: string, percent: number): string =>
  percent === 0
    ? `${workspaceId} is not told of low credits`
    : `${workspaceId} is told when fewer than ${percent} % of its credits after the last top-up are left`;

const addWorkspaceCommands = (workspace: Command): void => {
  workspace
    .command('create')
    .description('open a workspace and its credit book')
    .requiredOption('--name <name>', 'its display name', someText)
    .addHelpText('after', example('workspace create --name "Atelier Lumière"'))
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
      new Option('--external-id <choice>', 'show the callers’ ids of readings').choices(['on', 'off']),
    )
    .option('--low-credits <percent>', 'tell below this share of the last top-up; 0: never', wholeFrom(0, 90))
    .addHelpText('after', example('workspace webhooks --workspace ws_… --external-id off'))
    .action(async (options: ContentOptions, command: Command) => {
      const { workspace: workspaceId, externalId, lowCredits: lowCreditsPercent } = options;
      if (externalId === undefined && lowCreditsPercent === undefined)
        throw new OpsError('Name what to choose: --external-id or --low-credits');
      const content = {
        ...(externalId === undefined ? {} : { externalId: externalId === 'on' }),
        ...(lowCreditsPercent === undefined ? {} : { lowCreditsPercent }),
      };
      const outcome = await withSession(({ commands, actor }) =>
        commands.execute(new ChooseForWorkspace(workspaceId, content, ownRequest(actor))),
      );
      requireWorkspace(workspaceId, outcome);
      const shown = externalId === 'on' ? 'external ids' : 'no external ids';
      const said = [
        ...(externalId === undefined ? [] : [`Webhook bodies of ${workspaceId} show ${shown}`]),
        ...(lowCreditsPercent === undefined ? [] : [saidOfLowCredits(workspaceId, lowCreditsPercent)]),
      ];
      print(command, { workspaceId, externalId, lowCreditsPercent, ...outcome }, said);
    });
  workspace
    .command('booklet')
    .description('choose the paper of the PDFs of a workspace, from the next publication on')
    .requiredOption('--workspace <id>', 'the workspace')
    .addOption(new Option('--paper <paper>', 'by-locale: A4 for fr-FR').choices(PAPERS).makeOptionMandatory())
    .addHelpText('after', example('workspace booklet --workspace ws_… --paper a4'))
    .action(async (options: { workspace: string; paper: Paper }, command: Command) => {
      const workspaceId = options.workspace;
      const outcome = await withSession(({ commands, actor }) =>
        commands.execute(new ChooseForWorkspace(workspaceId, { paper: options.paper }, ownRequest(actor))),
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
      const columns = {
        workspace: 'workspaceId',
        name: 'name',
        opened: 'openedAt',
        keys: 'activeKeys',
      } as const;
      print(command, { workspaces }, tableOf(workspaces, columns));
    });
};

const LONGEST_MINUTES = MAX_SESSION_SECONDS / 60;
const DEFAULT_MINUTES = 60;

interface LinkOptions {
  readonly workspace: string;
  readonly scopes: readonly string[];
  readonly language: PortalLanguage;
  readonly zone: string;
  readonly minutes: number;
}

const addPortalCommands = (portal: Command): void => {
  portal
    .command('link')
    .description('print a link to the portal of a workspace; it works once, within 60 seconds')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--scopes <scopes>', 'comma-separated; default: all', scopesAmong(SESSION_SCOPES), SESSION_SCOPES)
    .addOption(new Option('--language <language>').choices(PORTAL_LANGUAGES).default('en'))
    .option('--zone <zone>', 'time zone of the pages, as Europe/Paris', parseZone, 'UTC')
    .option('--minutes <n>', 'minutes the session lasts', wholeFrom(1, LONGEST_MINUTES), DEFAULT_MINUTES)
    .addHelpText('after', example('portal link --workspace ws_… --scopes readings:read'))
    .action(async ({ workspace, scopes, language, zone, minutes }: LinkOptions, command: Command) => {
      const answer = await withSession(async ({ commands, config, actor, requireWorkspace }) => {
        if (!config.PORTAL) throw new OpsError('The portal is switched off: set PORTAL=1 for the API.');
        await requireWorkspace(workspace);
        const opened = await commands.execute(
          new OpenPortal(
            workspace,
            { scopes, modes: MODES, language, timeZone: zone, returnUrl: null, ttlSeconds: minutes * 60 },
            null,
            actor,
          ),
        );
        if (!opened) throw new OpsError('The workspace has too many sessions open.');
        const { token, ...shown } = opened;
        return { ...shown, url: portalUrl(config, config.PORT, `/enter/${token}`) };
      });
      print(command, answer, answer.url);
    });
};

export function parseZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError('must be an IANA time zone such as Europe/Paris');
  }
}

export const commands = { workspace: addWorkspaceCommands, portal: addPortalCommands };
