import { InvalidArgumentError, type Command } from 'commander';
import { MODES } from '#event-sourcing/core/mode.js';
import { SESSION_SCOPES } from '#platform/auth/scopes.js';
import {
  LONGEST_SESSION_SECONDS,
  OpenPortal,
  PORTAL_LANGUAGES,
  portalUrl,
  type PortalLanguage,
} from '#workspaces/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { withSession } from '../session.js';

const LONGEST_MINUTES = LONGEST_SESSION_SECONDS / 60;
const DEFAULT_MINUTES = 60;

interface LinkOptions {
  readonly workspace: string;
  readonly scopes: readonly string[];
  readonly language: PortalLanguage;
  readonly zone: string;
  readonly minutes: number;
}

export const addPortalCommands = (portal: Command): void => {
  portal
    .command('link')
    .description('print a link to the portal of a workspace; it works once, within 60 seconds')
    .requiredOption('--workspace <id>', 'the workspace')
    .option(
      '--scopes <scopes>',
      `comma-separated: ${SESSION_SCOPES.join(' ')}; default: all`,
      parseScopes,
      SESSION_SCOPES,
    )
    .option('--language <language>', PORTAL_LANGUAGES.join(' or '), parseLanguage, 'en')
    .option('--zone <zone>', 'time zone of the pages, as Europe/Paris', parseZone, 'UTC')
    .option(
      '--minutes <n>',
      `minutes the session lasts, 1 to ${LONGEST_MINUTES}`,
      parseMinutes,
      DEFAULT_MINUTES,
    )
    .addHelpText(
      'after',
      '\nExample:\n  ops portal link --workspace ws_… --scopes readings:read,credits:read',
    )
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

function parseScopes(text: string): readonly string[] {
  const scopes = [...new Set(text.split(/[\s,]+/).filter(Boolean))];
  const unknown = scopes.filter((scope) => !(SESSION_SCOPES as readonly string[]).includes(scope));
  if (scopes.length === 0 || unknown.length > 0)
    throw new InvalidArgumentError(`${unknown.join(' ')} is not a scope: use ${SESSION_SCOPES.join(' ')}`);
  return scopes;
}

export function parseLanguage(text: string): PortalLanguage {
  const language = PORTAL_LANGUAGES.find((one) => one === text);
  if (!language) throw new InvalidArgumentError(`must be ${PORTAL_LANGUAGES.join(' or ')}`);
  return language;
}

export function parseZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError('must be an IANA time zone such as Europe/Paris');
  }
}

function parseMinutes(text: string): number {
  const minutes = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (minutes < 1 || minutes > LONGEST_MINUTES)
    throw new InvalidArgumentError(`must be a whole number from 1 to ${LONGEST_MINUTES}`);
  return minutes;
}
