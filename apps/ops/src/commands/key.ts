import { InvalidArgumentError, Option, type Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { MODES, type Mode } from '@app/event-sourcing/core/mode.js';
import { ORDINARY_SCOPES } from '@app/platform/auth/scopes.js';
import { ownRequest } from '@app/platform/cqrs/own-request.js';
import {
  ApiKeyIsKnown,
  IssueApiKey,
  ListApiKeys,
  RevokeApiKey,
  type ApiKeySummary,
} from '@app/workspaces/contracts/index.js';
import { OpsError } from '../ops-error.js';
import { print, table, tell } from '../output.js';
import { wholeNumber } from './options.js';
import { withSession, type Session } from '../session.js';

const PROJECTED_WITHIN_MS = 5_000;

export const addKeyCommands = (key: Command): void => {
  key
    .command('issue')
    .description('issue an API key; it is shown only once')
    .requiredOption('--workspace <id>', 'the workspace it belongs to')
    .option('--label <text>', 'what it is for')
    .addOption(
      new Option('--mode <mode>', 'live, or test: its readings cost test credits')
        .choices(MODES)
        .default('live'),
    )
    .option('--expires <instant>', 'RFC 3339 instant from which the key is refused', parseInstant)
    .addHelpText(
      'after',
      '\nExample:\n  ops key issue --workspace ws_… --label production --expires 2027-12-31T00:00:00Z',
    )
    .action(async (options: IssueOptions, command: Command) => {
      const issued = await withSession(async (session) => {
        const { commands, actor } = session;
        const answer = await commands.execute(
          new IssueApiKey(
            options.workspace,
            {
              label: options.label ?? null,
              mode: options.mode,
              scopes: ORDINARY_SCOPES,
              networks: [],
              expiresAt: options.expires ?? null,
            },
            ownRequest(actor),
          ),
        );
        if (answer.outcome === 'unknown_workspace') {
          throw new OpsError(`There is no workspace ${options.workspace}: ops workspace list shows them.`);
        }
        if (answer.outcome === 'key_limit_reached') {
          throw new OpsError(
            `${options.workspace} has the maximum of ${answer.limit} active keys: revoke one (ops key list shows when each was last used), or raise API_KEYS_PER_WORKSPACE.`,
          );
        }
        await waitUntilKnown(session, answer.keyId);
        return { keyId: answer.keyId, apiKey: answer.apiKey };
      });
      print(command, issued, `Key ${issued.keyId}. Store it now, it is not shown again:\n${issued.apiKey}`);
    });
  key
    .command('list')
    .description('the keys of a workspace, newest first, without secrets')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--limit <n>', 'at most this many', wholeNumber, 100)
    .option('--after <cursor>', 'the value of `next` in the previous page', parseCursor)
    .addHelpText('after', '\nExample:\n  ops key list --workspace ws_… --limit 20')
    .action(async ({ workspace, limit, after }: ListOptions, command: Command) => {
      const found = await withSession(async ({ queries, requireWorkspace }) => {
        await requireWorkspace(workspace);
        return queries.execute(new ListApiKeys(workspace, limit + 1, after ?? null));
      });
      const keys = found.slice(0, limit);
      const last = found.length > limit ? keys.at(-1) : undefined;
      const next = last ? `${last.issuedAt},${last.keyId}` : null;
      const text = table(['key', 'label', 'issued', 'expires', 'revoked', 'last used'], keys.map(cells));
      print(command, { keys, next }, next ? `${text}\n\nMore: --after ${next}` : text);
    });
  key
    .command('revoke')
    .description('revoke an API key; it stops working at once')
    .requiredOption('--key <id>', 'the 8-character id of the key')
    .option('--workspace <id>', 'its workspace: required for a key that no worker has processed yet')
    .option('--reason <text>', 'why')
    .addHelpText('after', '\nExample:\n  ops key revoke --key Ab3dE6gH --reason leaked')
    .action(async (options: { key: string; workspace?: string; reason?: string }, command: Command) => {
      const answer = await withSession(({ commands, actor }) =>
        commands.execute(
          new RevokeApiKey(options.key, options.reason ?? null, ownRequest(actor), options.workspace ?? null),
        ),
      );
      if (answer.outcome === 'unknown_key') throw new OpsError(`There is no API key ${options.key}.`);
      print(
        command,
        { keyId: options.key, ...answer },
        answer.outcome === 'revoked' ? 'Revoked' : 'Already revoked',
      );
    });
};

interface IssueOptions {
  readonly workspace: string;
  readonly label?: string;
  readonly mode: Mode;
  readonly expires?: string;
}

interface ListOptions {
  readonly workspace: string;
  readonly limit: number;
  readonly after?: Cursor;
}

type Cursor = readonly [issuedAt: string, keyId: string];

function parseCursor(text: string): Cursor {
  const [, issuedAt, keyId] = /^([\d:.TZ-]{20,30}),([0-9A-Za-z]{8})$/.exec(text) ?? [];
  if (issuedAt === undefined || keyId === undefined || Number.isNaN(Date.parse(issuedAt))) {
    throw new InvalidArgumentError('must be a cursor that ops key list printed');
  }
  return [issuedAt, keyId];
}

const cells = ({ keyId, label, issuedAt, expiresAt, revokedAt, lastUsedAt }: ApiKeySummary) => [
  keyId,
  label ?? '',
  issuedAt,
  expiresAt ?? 'never',
  revokedAt ?? '',
  lastUsedAt ?? 'never',
];

/** A key works once the worker has projected it. Waiting here spares the operator an unexplained 401. */
const waitUntilKnown = async ({ queries }: Session, keyId: string): Promise<void> => {
  for (const deadline = Date.now() + PROJECTED_WITHIN_MS; Date.now() < deadline; await delay(50)) {
    if (await queries.execute(new ApiKeyIsKnown(keyId))) return;
  }
  tell('The key is issued, but no worker has processed it yet. It works once a worker runs.');
};

function parseInstant(text: string): string {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds) || !text.includes('T')) {
    throw new InvalidArgumentError('must be an RFC 3339 instant such as 2027-12-31T00:00:00Z');
  }
  return new Date(milliseconds).toISOString();
}
