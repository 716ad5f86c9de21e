import { InvalidArgumentError, type Command } from 'commander';
import { importJWK, SignJWT, type JWK } from 'jose';
import { randomUUID } from 'node:crypto';
import { BEARER_SCOPES } from '#platform/auth/scopes.js';
import { readConnection } from '../connection.js';
import { OpsError } from '../ops-error.js';
import { print } from '../output.js';
import { withSession } from '../session.js';

const LONGEST_MINUTES = 15;

interface MintOptions {
  readonly workspace: string;
  readonly scope: string;
  readonly subject: string;
  readonly minutes: number;
}

export const addTokenCommands = (token: Command): void => {
  token
    .command('mint')
    .description('sign a bearer token, as a portal would for a signed-in user')
    .requiredOption('--workspace <id>', 'the workspace it grants access to')
    .requiredOption('--scope <scopes>', `space-separated: ${BEARER_SCOPES.join(' ')}`, parseScope)
    .option('--subject <name>', 'the user who holds it; recorded with their actions', 'operator')
    .option('--minutes <n>', `minutes it is valid, 1 to ${LONGEST_MINUTES}`, parseMinutes, LONGEST_MINUTES)
    .addHelpText(
      'after',
      '\nExamples:\n  ops token mint --workspace ws_… --scope "keys:read keys:write"\n  curl -H "Authorization: Bearer $(ops token mint --workspace ws_… --scope credits:read)" http://127.0.0.1:3000/api/v1/credits',
    )
    .action(async ({ workspace, scope, subject, minutes }: MintOptions, command: Command) => {
      const {
        TOKEN_SIGNING_KEY: key,
        TOKEN_ISSUER: issuer,
        TOKEN_AUDIENCE: audience,
      } = readConnection(process.env);
      if (!key || !issuer) {
        throw new OpsError(
          'No issuer is configured: set TOKEN_SIGNING_KEY (a private JWK) and TOKEN_ISSUER.',
        );
      }
      await withSession(({ requireWorkspace }) => requireWorkspace(workspace));
      const jwk = JSON.parse(key) as JWK;
      const issuedAt = Math.floor(Date.now() / 1_000);
      const expiresAt = issuedAt + minutes * 60;
      const minted = await new SignJWT({ wid: workspace, scope })
        .setProtectedHeader({ alg: jwk.alg ?? 'EdDSA', kid: jwk.kid })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setNotBefore(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(await importJWK(jwk));
      print(command, { token: minted, scope, expiresAt: new Date(expiresAt * 1_000).toISOString() }, minted);
    });
};

function parseScope(text: string): string {
  const scopes = text.split(/\s+/).filter(Boolean);
  const unknown = scopes.filter((scope) => !(BEARER_SCOPES as readonly string[]).includes(scope));
  if (scopes.length === 0 || unknown.length > 0) {
    throw new InvalidArgumentError(`${unknown.join(' ')} is not a scope: use ${BEARER_SCOPES.join(' ')}`);
  }
  return scopes.join(' ');
}

function parseMinutes(text: string): number {
  const minutes = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (minutes < 1 || minutes > LONGEST_MINUTES) {
    throw new InvalidArgumentError(`must be a whole number from 1 to ${LONGEST_MINUTES}`);
  }
  return minutes;
}
