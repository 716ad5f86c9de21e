import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { programPath } from '#platform/program-path.js';
import { craftToken, edKey, HostilePortal, rsaKey } from '../support/hostile-portal.js';
import { Integrator } from '../support/integrator.js';
import { removeDataFolder, startStack, temporaryDataDir, type StartedStack } from '../support/index.js';
import { rounds } from '../support/rounds.js';

/** Forged bearer tokens. */
const FLOOD = rounds(400, 20_000);
const ISSUER = 'https://portal.example';
const AUDIENCE = 'reading-service';
/** How often a process asks for keys that it does not know. */
const COOLDOWN_MS = 30_000;

const [ed, rsa, weak, stranger] = [edKey('ed'), rsaKey('rsa'), rsaKey('weak', 1_024), edKey('stranger')];
const dataDir = temporaryDataDir();
let portal: HostilePortal;
let stack: StartedStack;
let customer: Integrator;
let other: Integrator;

beforeAll(async () => {
  portal = await HostilePortal.start();
  portal.publish(ed, rsa, weak);
  stack = await startStack({
    dataDir,
    env: {
      TOKEN_ISSUER: ISSUER,
      TOKEN_AUDIENCE: AUDIENCE,
      TOKEN_JWKS_URL: portal.url,
      NODE_EXTRA_CA_CERTS: portal.certificateFile,
    },
  });
  customer = await Integrator.open(stack, 0);
  other = await Integrator.open(stack, 0);
});

afterAll(async () => {
  await stack?.stop();
  portal?.stop();
  removeDataFolder(dataDir);
});

const claims = (changes: Record<string, unknown> = {}) => {
  const now = Math.floor(Date.now() / 1_000);
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'ada',
    wid: customer.workspaceId,
    scope: 'webhooks:read webhooks:write',
    iat: now,
    exp: now + 600,
    ...changes,
  };
};
const EDDSA = { alg: 'EdDSA', kid: 'ed' };
const good = () => craftToken(EDDSA, claims(), ed.privateKey);

const ask = async (token: string, path = '/api/v1/webhooks') => {
  const answer = await fetch(stack.baseUrl + path, { headers: { authorization: `Bearer ${token}` } });
  const { requestId: _, instance: __, ...problem } = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, problem };
};
const statusOf = async (token: string): Promise<number> => (await ask(token)).status;
const logLines = (): readonly string[] =>
  readFileSync(join(dataDir, 'logs', 'api.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"component":"bearer-tokens"'));

describe('A token of the portal', () => {
  it('is accepted with a signature of any of its keys, and with any usual type', async () => {
    expect(await statusOf(good())).toBe(200);
    expect(await statusOf(craftToken({ alg: 'RS256', kid: 'rsa' }, claims(), rsa.privateKey, 'sha256'))).toBe(
      200,
    );
    for (const typ of ['JWT', 'at+jwt', 'application/AT+JWT'])
      expect(await statusOf(craftToken({ ...EDDSA, typ }, claims(), ed.privateKey))).toBe(200);
  });

  it('opens only its own workspace, within its scopes', async () => {
    const created = await other.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
      body: { url: 'https://receiver.invalid/hook' },
    });
    expect((await ask(good(), `/api/v1/webhooks/${created.body.endpointId}`)).status).toBe(403);
    expect((await ask(good(), '/api/v1/credits')).status).toBe(403);
    expect((await ask(good(), '/api/v1/readings')).status).toBe(403);
  });
});

/** One of each kind; libs/workspaces has the others. */
const refused: readonly (readonly [string, () => string])[] = [
  ['an empty token', () => ''],
  ['too long', () => craftToken(EDDSA, claims({ pad: 'x'.repeat(9_000) }), ed.privateKey)],
  ['declared as unsigned', () => craftToken({ alg: 'none', kid: 'ed' }, claims(), ed.privateKey)],
  ['signed by a stranger', () => craftToken(EDDSA, claims(), stranger.privateKey)],
  ['with its own key', () => craftToken({ ...EDDSA, jwk: stranger.jwk }, claims(), stranger.privateKey)],
  ['with a URL of its key', () => craftToken({ ...EDDSA, jku: portal.url }, claims(), ed.privateKey)],
  [
    'of a key of 1,024 bits',
    () => craftToken({ alg: 'RS256', kid: 'weak' }, claims(), weak.privateKey, 'sha256'),
  ],
  ['for another audience', () => craftToken(EDDSA, claims({ aud: ['portal'] }), ed.privateKey)],
  ['that has expired', () => craftToken(EDDSA, claims({ exp: claims().iat - 60 }), ed.privateKey)],
  ['of several workspaces', () => craftToken(EDDSA, claims({ wid: [customer.workspaceId] }), ed.privateKey)],
];

describe('A token', () => {
  it.each(refused)('%s is refused like any other', async (_, token) => {
    expect(await ask(token())).toEqual(await ask('garbage'));
    expect(await statusOf(token())).toBe(401);
  });

  it('whose signature is used for other claims is refused', async () => {
    const [head = '', , signature = ''] = good().split('.');
    const foreign = Buffer.from(JSON.stringify(claims({ wid: other.workspaceId }))).toString('base64url');
    expect(await statusOf(`${head}.${foreign}.${signature}`)).toBe(401);
  });
});

describe('A key of 1,024 bits', () => {
  it('is reported to the operator: in one line of the log, and by the doctor', async () => {
    expect(logLines()).toHaveLength(1);
    expect(logLines()[0]).toContain('"name":"weak"');
    const doctor = [programPath('ops'), 'doctor', '--json'];
    const environment = { ...process.env, DATA_DIR: dataDir, NODE_EXTRA_CA_CERTS: portal.certificateFile };
    // Something else may be wrong with this machine, such as its disk: then the exit code is 1.
    const { stdout } = await promisify(execFile)(process.execPath, doctor, { env: environment }).catch(
      (error: unknown) => error as { stdout: string },
    );
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; level: string; message: string }[];
    };
    expect(findings.find(({ check }) => check === 'bearer tokens')).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('not weak: it has 1024 bits'),
    });
  });
});

describe('A flood of tokens', () => {
  it('with unknown keys causes few requests to the portal and no log lines', async () => {
    await statusOf(good());
    const [asked, logged, startedAt] = [portal.asked, logLines().length, Date.now()];
    const statuses = new Set<number>();
    for (let sent = 0; sent < FLOOD; sent += 50) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          statusOf(craftToken({ alg: 'EdDSA', kid: `none-${sent + n}` }, claims(), stranger.privateKey)),
        ),
      );
      for (const status of answers) statuses.add(status);
    }
    expect([...statuses]).toEqual([401]);
    const pauses = (Date.now() - startedAt) / COOLDOWN_MS;
    expect(portal.asked - asked).toBeLessThanOrEqual(Math.ceil(pauses) + 1);
    expect(logLines()).toHaveLength(logged);
    expect(await statusOf(good())).toBe(200);
  });
});
