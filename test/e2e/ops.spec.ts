import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { programPath } from '@app/platform/program-path.js';
import { startStack, type StartedStack } from '../support/index.js';

let stack: StartedStack;
let workspaceId: string;

beforeAll(async () => {
  stack = await startStack();
  ({ workspaceId } = (await stack.ops(['workspace', 'create', '--name', 'Atelier'])) as {
    workspaceId: string;
  });
});

afterAll(async () => {
  await stack?.stop();
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = async (
  args: readonly string[],
  dataDir = stack.dataDir,
  env: Record<string, string> = {},
): Promise<Ended> => {
  try {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [programPath('ops'), ...args],
      // A command that never ends by itself is killed, and then has no exit code.
      { env: { ...process.env, DATA_DIR: dataDir, ...env }, timeout: 60_000, killSignal: 'SIGKILL' },
    );
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Ended;
  }
};

/** A TLS proxy with the store's key. Once it has passed the text to the store, it drops all answers. */
const storeThatFallsSilent = async (text: string): Promise<{ url: string; close(): void }> => {
  const store = new URL(stack.eventStoreUrl.replace('esdb:', 'http:'));
  const access = (file: string): Buffer => readFileSync(join(stack.dataDir, 'event-store-access', file));
  const [cert, key, ALPNProtocols] = [access('server.crt'), access('server.key'), ['h2']];
  const sockets: TLSSocket[] = [];
  let silent = false;
  const door = createServer({ cert, key, ALPNProtocols }, (caller) => {
    const inside = connect({
      port: Number(store.port),
      host: '127.0.0.1',
      servername: 'localhost',
      ca: cert,
      ALPNProtocols,
    });
    sockets.push(caller, inside);
    for (const socket of [caller, inside]) socket.on('error', () => undefined);
    caller.on('data', (chunk: Buffer) => {
      silent ||= chunk.includes(text);
      inside.write(chunk);
    });
    inside.on('data', (chunk: Buffer) => {
      if (!silent) caller.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: stack.eventStoreUrl.replace(store.host, `localhost:${(door.address() as AddressInfo).port}`),
    close: () => {
      for (const socket of sockets) socket.destroy();
      door.close();
    },
  };
};

describe('the operator’s commands', () => {
  it('open a workspace, grant and correct its credits, and show its book', async () => {
    const of = ['--workspace', workspaceId];
    expect(workspaceId).toMatch(/^ws_[0-9A-Za-z]{22}$/);
    expect(await stack.ops(['plan', 'subscribe', ...of, '--plan', 'studio'])).toMatchObject({
      available: 400,
    });
    expect(await stack.ops(['pack', 'add', ...of, '--pack', 'flex', '--order', 'INV-1'])).toMatchObject({
      available: 450,
    });
    expect(await stack.ops(['pack', 'add', ...of, '--pack', 'flex', '--order', 'INV-1'])).toMatchObject({
      outcome: 'already_purchased',
      available: 450,
    });
    expect(
      await stack.ops(['credits', 'adjust', ...of, '--amount', '-30', '--reason', 'correction']),
    ).toMatchObject({ outcome: 'adjusted', available: 420 });
    const { entries: before } = (await stack.ops(['ledger', 'statement', ...of])) as {
      entries: { eventId: string }[];
    };
    const reverse = ['credits', 'adjust', ...of, '--amount', '30', '--reason', 'corrected', '--reverses'];
    expect(await stack.ops([...reverse, before.at(-1)!.eventId])).toMatchObject({ available: 450 });
    expect(
      await stack.ops(['credits', 'adjust', ...of, '--amount', '-30', '--reason', 'again']),
    ).toMatchObject({ available: 420 });
    expect(await stack.ops(['ledger', 'balance', ...of])).toEqual({
      available: 420,
      held: 0,
      consumed: 0,
      expired: 0,
      granted: 450,
      adjusted: -30,
    });
    const { entries } = (await stack.ops(['ledger', 'statement', ...of])) as { entries: { type: string }[] };
    expect(entries.map(({ type }) => type)).toEqual([
      'BookOpened',
      'SubscriptionStarted',
      'PlanGranted',
      'PackPurchased',
      'CreditsAdjusted',
      'CreditsAdjusted',
      'CreditsAdjusted',
    ]);
    const { events } = (await stack.ops(['streams', 'show', `credits-${workspaceId}`])) as {
      events: { data: { reversesEventId?: string | null } }[];
    };
    expect(events.map(({ data }) => data.reversesEventId).filter(Boolean)).toEqual([before.at(-1)!.eventId]);
  });

  it('correct a book once for one reference', async () => {
    const { workspaceId: own } = (await stack.ops(['workspace', 'create', '--name', 'Once'])) as {
      workspaceId: string;
    };
    const adjust = ['credits', 'adjust', '--workspace', own, '--reason', 'goodwill', '--reference', 'INC-42'];
    const twenty = [...adjust, '--amount', '20'];
    const answer = { reference: 'INC-42', available: 20 };
    expect(await stack.ops(twenty)).toEqual({ outcome: 'adjusted', ...answer });
    expect(await stack.ops(twenty)).toEqual({ outcome: 'already_adjusted', ...answer });
    expect(await run(twenty)).toMatchObject({
      code: 0,
      stdout: 'Already adjusted under the same reference; 20 credits available\n',
      stderr: '',
    });
    expect(await run([...adjust, '--amount', '30'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: '20 credits are already booked under the reference INC-42. Nothing changed.\n',
    });
    expect((await run([...adjust.slice(0, -1), ' ', '--amount', '1'])).stderr).toMatch(/--reference/);
    expect(await stack.ops(['ledger', 'balance', '--workspace', own])).toMatchObject({ adjusted: 20 });
  });

  it('report when a correction may have been recorded, and how to repeat it safely', async () => {
    const { workspaceId: own } = (await stack.ops(['workspace', 'create', '--name', 'Unheard'])) as {
      workspaceId: string;
    };
    const adjust = 'credits adjust --amount 20 --reason unheard --workspace'.split(' ').concat(own);
    const silent = await storeThatFallsSilent('CreditsAdjusted');
    const unknown = await run(adjust, stack.dataDir, { EVENTSTORE_URL: silent.url });
    silent.close();
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    const [first, last] = unknown.stderr.trim().split('\n');
    const reference = /^Reference: (ops-\S+)$/.exec(first!)![1]!;
    expect(last).toContain(`It may have been recorded: repeat the command with --reference ${reference}`);
    expect(await stack.ops([...adjust, '--reference', reference])).toEqual({
      outcome: 'already_adjusted',
      reference,
      available: 20,
    });
  });

  it('list workspaces and show streams', async () => {
    const { workspaces } = (await stack.ops(['workspace', 'list'])) as {
      workspaces: { workspaceId: string; name: string }[];
    };
    expect(workspaces).toContainEqual(expect.objectContaining({ workspaceId, name: 'Atelier' }));
    const { events } = (await stack.ops(['streams', 'show', `workspace-${workspaceId}`])) as {
      events: { type: string; revision: string }[];
    };
    expect(events.map(({ type, revision }) => [type, revision])).toEqual([['WorkspaceOpened', '0']]);
  });

  it('print text without --json, and have help texts', async () => {
    const text = await run(['ledger', 'balance', '--workspace', workspaceId]);
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toContain('available');
    const help = await run(['pack', 'add', '--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toContain('Example:');
  });

  it.each<[string, () => string[], RegExp]>([
    [
      'an unknown workspace',
      () => ['ledger', 'balance', '--workspace', 'ws_nobody'],
      /There is no workspace ws_nobody/,
    ],
    ['an unknown key', () => ['key', 'revoke', '--key', 'nobody12'], /There is no API key nobody12/],
    ['an unknown stream', () => ['streams', 'show', 'reading-nothing'], /There is no stream reading-nothing/],
    [
      'an unknown plan',
      () => ['plan', 'subscribe', '--workspace', workspaceId, '--plan', 'gold'],
      /studio.*access-local/,
    ],
    [
      'an unknown pack',
      () => ['pack', 'add', '--workspace', workspaceId, '--pack', 'x', '--order', 'o'],
      /flex.*burst/,
    ],
    [
      'a plan that needs approval',
      () => ['plan', 'subscribe', '--workspace', workspaceId, '--plan', 'access-local'],
      /requires an approval reference: add --approval/,
    ],
    [
      'a malformed amount',
      () => ['credits', 'adjust', '--workspace', workspaceId, '--amount', '1.5', '--reason', 'r'],
      /whole number/,
    ],
    [
      'taking more credits than available',
      () =>
        'credits adjust --amount -100000 --reason r --reference r --workspace'.split(' ').concat(workspaceId),
      /credits are available\. Nothing changed/,
    ],
    [
      'reversing an unknown entry',
      () =>
        'credits adjust --amount 5 --reason r --reverses nothing --workspace'.split(' ').concat(workspaceId),
      /The book has no event nothing\. Nothing changed/,
    ],
    ['a missing option', () => ['key', 'issue'], /--workspace/],
    ['a malformed time', () => ['key', 'issue', '--workspace', workspaceId, '--expires', 'soon'], /RFC 3339/],
    ['an unknown command', () => ['frobnicate'], /unknown command/],
  ])('refuse %s in one line, with exit code 1', async (_, args, message) => {
    const { code, stdout, stderr } = await stack.runOps([...args(), '--json']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('report in one line that no stack is running', async () => {
    const { code, stderr } = await run(['workspace', 'list'], '/nonexistent');
    expect(code).toBe(1);
    expect(stderr.trim()).toMatch(/^No stack is running on/);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
