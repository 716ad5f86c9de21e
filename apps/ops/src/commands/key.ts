import { InvalidArgumentError, Option, type Command } from 'commander';
import { importJWK, SignJWT, type JWK } from 'jose';
import { randomUUID } from 'node:crypto';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import { BEARER_SCOPES, expandScopes, WRITABLE_SCOPES } from '#platform/auth/scopes.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { parseInstant } from '#platform/http/instant.js';
import { EndLinksMadeBy } from '#publishing/contracts/index.js';
import {
  IssueApiKey,
  ListApiKeys,
  MAX_LABEL_LENGTH,
  MAX_NETWORKS,
  networkText,
  readNetwork,
  RevokeApiKey,
  RevokeApiKeyAndIssued,
  RotateApiKey,
  type ApiKeySummary,
  type KeyRefusal,
} from '#workspaces/contracts/index.js';
import { type Columns, OpsError, print, tableOf } from '../output.js';
import { HARMLESS_TO_REPEAT, readConnection, withSession, withWorkspace } from '../session.js';
import { example, scopesAmong, someText, wholeFrom, wholeNumber } from './options.js';

const LONGEST_OVERLAP_SECONDS = 604_800;
const DAY_SECONDS = 86_400;
const SHOWN_ONCE = 'Store it now, it is not shown again:';

interface IssueOptions {
  readonly workspace: string;
  readonly label?: string;
  readonly mode: Mode;
  readonly scopes?: readonly string[];
  readonly network?: readonly string[];
  readonly expires?: string;
}

const addKeyCommands = (key: Command): void => {
  key
    .command('issue')
    .description('issue an API key; it is shown only once')
    .requiredOption('--workspace <id>', 'the workspace it belongs to')
    .option('--label <text>', 'what it is for', parseLabel)
    .addOption(new Option('--mode <mode>', 'test: readings cost test credits').choices(MODES).default('live'))
    .option(
      '--scopes <list>',
      `comma-separated: ${WRITABLE_SCOPES.join(' ')}; default: all but erasure, keys:write and portal:write`,
      (text: string) => expandScopes(scopesAmong(WRITABLE_SCOPES)(text)),
    )
    .option('--network <cidr>', 'a network that it works from, repeatable; default: everywhere', addNetwork)
    .option('--expires <instant>', 'RFC 3339 instant from which the key is refused', parseExpiry)
    .addHelpText('after', example('key issue --workspace ws_… --label production --mode test'))
    .action(async (options: IssueOptions, command: Command) => {
      const { workspace, label = null, mode, scopes = null, network = null, expires = null } = options;
      const issued = await withSession(async ({ commands, actor }) => {
        const asked = { label, mode, scopes, networks: network, expiresAt: expires };
        const answer = await commands.execute(new IssueApiKey(workspace, asked, ownRequest(actor)));
        if (answer.outcome !== 'issued') throw refused(answer, workspace);
        return { keyId: answer.keyId, apiKey: answer.apiKey, ...answer.terms };
      });
      print(command, issued, `Key ${issued.keyId}. ${SHOWN_ONCE}\n${issued.apiKey}`);
    });
  key
    .command('list')
    .description('the keys of a workspace, newest first, without secrets')
    .requiredOption('--workspace <id>', 'the workspace')
    .option('--limit <n>', 'at most this many', wholeNumber, 100)
    .addHelpText('after', example('key list --workspace ws_… --limit 20'))
    .action(async ({ workspace, limit }: { workspace: string; limit: number }, command: Command) => {
      const keys = await withWorkspace(workspace, ({ queries }) =>
        queries.execute(new ListApiKeys(workspace, limit)),
      );
      print(command, { keys }, tableOf(keys, COLUMNS));
    });
  key
    .command('rotate')
    .description('issue a key with the terms of another one, which ends after the overlap')
    .requiredOption('--key <id>', 'the 8-character id of the key to replace')
    .option(
      '--overlap <seconds>',
      'how long the previous key still works; 0 revokes it',
      wholeFrom(0, LONGEST_OVERLAP_SECONDS),
      DAY_SECONDS,
    )
    .addHelpText('after', example('key rotate --key Ab3dE6gH --overlap 3600'))
    .action(async (options: { key: string; overlap: number }, command: Command) => {
      const rotated = await withSession(async ({ commands, actor }) => {
        const answer = await commands.execute(
          new RotateApiKey(options.key, options.overlap, ownRequest(actor), null),
        );
        if (answer.outcome === 'unknown_key')
          throw new OpsError(`There is no active API key ${options.key}.`);
        if (answer.outcome !== 'rotated') throw refused(answer, 'The workspace');
        const { keyId, apiKey, terms, previousExpiresAt } = answer;
        return { keyId, apiKey, ...terms, previousKeyId: options.key, previousExpiresAt };
      });
      const { keyId, apiKey, previousKeyId, previousExpiresAt } = rotated;
      const text = `Key ${keyId}. ${SHOWN_ONCE}\n${apiKey}\n${previousKeyId} ends at ${previousExpiresAt}.`;
      print(command, rotated, text);
    });
  key
    .command('revoke')
    .description('revoke an API key; it stops working at once')
    .requiredOption('--key <id>', 'the 8-character id of the key')
    .option('--reason <text>', 'why')
    .option('--and-issued', 'also revoke every key issued with it, and end the links that they made')
    .addHelpText('after', example('key revoke --key Ab3dE6gH --reason leaked --and-issued'))
    .action(async (options: { key: string; reason?: string; andIssued?: true }, command: Command) => {
      const { key: keyId, andIssued, reason = null } = options;
      const answer = await withSession(async ({ commands, actor }) => {
        const by = ownRequest(actor);
        if (!andIssued) return commands.execute(new RevokeApiKey(keyId, reason, by));
        const revoked = await commands.execute(new RevokeApiKeyAndIssued(keyId, reason, by));
        if (revoked.outcome === 'unknown_key') return revoked;
        const { outcome, workspaceId, issued } = revoked;
        const makers = [keyId, ...issued].map((one) => `apiKey:${one}`);
        const { ended } = await commands.execute(new EndLinksMadeBy(workspaceId, makers));
        return { outcome, issued, endedLinks: ended };
      }, HARMLESS_TO_REPEAT);
      if (answer.outcome === 'unknown_key') throw new OpsError(`There is no API key ${keyId}.`);
      const lines = [answer.outcome === 'revoked' ? 'Revoked' : 'Already revoked'];
      if ('issued' in answer) {
        lines.push(`Keys issued with it, revoked too: ${answer.issued.join(' ') || 'none'}`);
        lines.push(`Links to documents ended: ${answer.endedLinks}`);
      }
      print(command, { keyId, ...answer }, lines);
    });
};

const refused = (refusal: KeyRefusal, workspace: string): OpsError => {
  if (refusal.outcome === 'key_limit_reached')
    return new OpsError(
      `${workspace} has the maximum of ${refusal.limit} active keys: revoke one (ops key list shows when each was last used), or rotate one with --overlap 0.`,
    );
  if (refusal.outcome === 'unknown_workspace')
    return new OpsError(`There is no workspace ${workspace}: ops workspace list shows them.`);
  // Refusals about the caller's own key: an operator has none.
  throw new TypeError(`An operator was refused: ${refusal.outcome}`);
};

const COLUMNS: Columns<ApiKeySummary> = {
  key: 'keyId',
  label: 'label',
  mode: 'mode',
  scopes: ({ scopes }) => scopes.join(' '),
  networks: ({ networks }) => networks.join(' ') || 'everywhere',
  issued: 'issuedAt',
  expires: ({ expiresAt }) => expiresAt ?? 'never',
  revoked: 'revokedAt',
  'last used': ({ lastUsedAt }) => lastUsedAt ?? 'never',
};

function parseExpiry(text: string): string {
  const expiresAt = parseInstant(text);
  if (expiresAt === null)
    throw new InvalidArgumentError('must be an RFC 3339 instant such as 2027-12-31T00:00:00Z');
  if (Date.parse(expiresAt) <= Date.now()) throw new InvalidArgumentError('must be in the future');
  return expiresAt;
}

function parseLabel(text: string): string {
  const label = someText(text);
  if ([...label].length > MAX_LABEL_LENGTH)
    throw new InvalidArgumentError(`must have 1 to ${MAX_LABEL_LENGTH} characters`);
  return label;
}

function addNetwork(text: string, before: readonly string[] = []): readonly string[] {
  const network = readNetwork(text);
  if (!network)
    throw new InvalidArgumentError('must be a network such as 203.0.113.0/24, without bits after the prefix');
  if (before.length === MAX_NETWORKS)
    throw new InvalidArgumentError(`a key has at most ${MAX_NETWORKS} networks`);
  return [...new Set([...before, networkText(network)])];
}

const LONGEST_MINUTES = 15;

type MintOptions = Readonly<Record<'workspace' | 'scope' | 'subject', string>> & { readonly minutes: number };

const addTokenCommands = (token: Command): void => {
  token
    .command('mint')
    .description('sign a bearer token, as a portal would for a signed-in user')
    .requiredOption('--workspace <id>', 'the workspace it grants access to')
    .requiredOption('--scope <scopes>', `space-separated: ${BEARER_SCOPES.join(' ')}`, (text: string) =>
      scopesAmong(BEARER_SCOPES, /\s+/)(text).join(' '),
    )
    .option('--subject <name>', 'the user who holds it; recorded with their actions', 'operator')
    .option('--minutes <n>', 'minutes it is valid', wholeFrom(1, LONGEST_MINUTES), LONGEST_MINUTES)
    .addHelpText('after', example('token mint --workspace ws_… --scope "keys:read keys:write"'))
    .action(async ({ workspace, scope, subject, minutes }: MintOptions, command: Command) => {
      const { TOKEN_SIGNING_KEY, TOKEN_ISSUER, TOKEN_AUDIENCE } = readConnection(process.env);
      if (!TOKEN_SIGNING_KEY || !TOKEN_ISSUER)
        throw new OpsError(
          'No issuer is configured: set TOKEN_SIGNING_KEY (a private JWK) and TOKEN_ISSUER.',
        );
      await withSession(({ requireWorkspace }) => requireWorkspace(workspace));
      const jwk = JSON.parse(TOKEN_SIGNING_KEY) as JWK;
      const issuedAt = Math.floor(Date.now() / 1_000);
      const expiresAt = issuedAt + minutes * 60;
      const minted = await new SignJWT({ wid: workspace, scope })
        .setProtectedHeader({ alg: jwk.alg ?? 'EdDSA', kid: jwk.kid })
        .setIssuer(TOKEN_ISSUER)
        .setAudience(TOKEN_AUDIENCE)
        .setSubject(subject)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setNotBefore(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await importJWK(jwk));
      print(command, { token: minted, scope, expiresAt: new Date(expiresAt * 1_000).toISOString() }, minted);
    });
};

export const commands = { key: addKeyCommands, token: addTokenCommands };
