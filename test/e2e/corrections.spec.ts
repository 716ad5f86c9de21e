import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import type { Correction, CorrectionsReport, OperatorKey } from '@app/billing/contracts/index.js';
import { programPath } from '@app/platform/program-path.js';
import { askCompanion } from '../support/companion.js';
import { startStack, type StartedStack } from '../support/index.js';
import { until } from '../support/integrator.js';
import { approval, Operator, twoOperators } from '../support/operators.js';
import { storeThatFallsSilent } from '../support/silent-store.js';

let stack: StartedStack;
let workspace: string;
let ada: Operator;
let grace: Operator;
let lin: Operator;
let settings: Record<string, string>;
let correct: Awaited<ReturnType<typeof twoOperators>>['correct'];

const open = async (name: string) =>
  ((await stack.ops(['workspace', 'create', '--name', name])) as { workspaceId: string }).workspaceId;
const balance = async (of = workspace) =>
  (await stack.ops(['ledger', 'balance', '--workspace', of])) as { available: number; adjusted: number };
const give = (amount: number, reason?: string) =>
  askCompanion('/credits', { eventStoreUrl: stack.eventStoreUrl, workspaceId: workspace, amount, reason });
const adjust = (amount: number, reference: string, of = workspace): string[] => [
  ...['credits', 'adjust', '--workspace', of, '--amount', String(amount)],
  ...['--reason', 'outage of 3 April', '--reference', reference],
];
const proposed = async (args: readonly string[], by = ada): Promise<Correction> =>
  (await by.ops<{ correction: Correction }>(args)).correction;

beforeAll(async () => {
  stack = await startStack();
  workspace = await open('Corrected');
  await give(5, 'before there were operators');
  ({ ada, grace, settings, correct } = await twoOperators(stack));
});

afterAll(() => stack?.stop());

describe('operators', () => {
  it('are added by a root key, or by two others', async () => {
    lin = new Operator(stack, 'lin', settings);
    expect((await lin.run(['operators', 'add', '--name', 'lin'])).stderr).toBe(
      'OPERATOR_ROOT_KEYS does not name this key. Nothing changed.\n',
    );
    const add = ['operators', 'add', '--name', 'lin', '--public-key', lin.publicKeyFile];
    expect(await ada.ops([...add, '--max-credits', '30'])).toMatchObject({ key: { status: 'pending' } });
    expect((await lin.run(adjust(1, 'LIN-1'))).stderr).toBe('The key of lin is pending. Nothing changed.\n');
    const confirm = ['operators', 'confirm', 'lin', '--digest', lin.digest];
    expect((await ada.run(confirm)).stderr).toMatch(/Two others must sign/);
    expect(await grace.ops(confirm)).toMatchObject({ key: { operator: 'lin', status: 'active' } });
    expect(await grace.ops(confirm)).toMatchObject({ outcome: 'already' });
    expect((await lin.run(adjust(31, 'LIN-2'))).stderr).toBe(
      '31 credits are above the limit maxCredits of lin, which is 30. Nothing was proposed.\n',
    );
  });

  it('sign with a key that only they can read', async () => {
    chmodSync(ada.keyFile, 0o640);
    expect((await ada.run(adjust(1, 'MODE'))).stderr).toMatch(/^Others can read .*chmod 600/);
    chmodSync(ada.keyFile, 0o600);
  });

  it('replace their key, and stay the same person', async () => {
    const correction = await proposed(adjust(7, 'ROTATED'), lin);
    const next = new Operator(stack, 'lin.next', settings);
    await lin.ops(['operators', 'rotate', '--public-key', next.publicKeyFile]);
    expect((await next.run(approval(correction))).stderr).toBe(
      'lin proposed it: another person must approve it. Nothing changed.\n',
    );
    expect((await lin.run(approval(correction))).stderr).toMatch(/The key of lin is retired/);
  });
});

describe('a correction', () => {
  it('changes nothing until another person has approved it, and is then booked once', async () => {
    const before = (await balance()).available;
    const correction = await proposed(adjust(20, 'INC-42'));
    const { correctionId, proposal } = correction;
    expect(await ada.ops(adjust(20, 'INC-42'))).toMatchObject({ outcome: 'already_proposed' });
    expect((await ada.run(adjust(30, 'INC-42'))).stderr).toMatch(/has this reference, and is proposed/);
    expect(await balance()).toMatchObject({ available: before });
    expect(await ada.run(approval(correction))).toMatchObject({
      code: 1,
      stderr: 'ada proposed it: another person must approve it. Nothing changed.\n',
    });
    expect(await grace.ops(['corrections', 'approve', correctionId])).toMatchObject({
      outcome: 'not_approved',
      correction: { status: 'proposed', proposal, credits: 20 },
    });
    for (let time = 0; time < 2; time += 1)
      expect(await grace.ops(approval(correction))).toMatchObject({
        outcome: 'booked',
        correction: { status: 'booked', approved: { signedBy: { operator: 'grace' } } },
      });
    expect(await balance()).toMatchObject({ available: before + 20 });
    const { entries } = await ada.ops<{ entries: object[] }>(['ledger', 'find', 'INC-42']);
    const signed = { actor: 'operator:ada', approvedBy: 'grace', correctionId };
    expect(entries).toMatchObject([{ workspaceId: workspace, credits: 20, ...signed }]);
    expect(await ada.ops(['ledger', 'verify', '--workspace', workspace])).toMatchObject({ ok: true });
  });

  it('is finished by a repeated run when the process dies between approval and booking', async () => {
    const before = (await balance()).available;
    const correction = await proposed(adjust(11, 'KILLED'));
    const asGrace = { DATA_DIR: stack.dataDir, OPERATOR_KEY_FILE: grace.keyFile };
    const silent = await storeThatFallsSilent(stack, 'CorrectionApproved');
    const child = spawn(process.execPath, [programPath('ops'), ...approval(correction)], {
      env: { ...process.env, ...settings, ...asGrace, EVENTSTORE_URL: silent.url },
      stdio: 'ignore',
    });
    const show = ['corrections', 'show', correction.correctionId];
    await until(
      async () => (await ada.ops<Correction>(show)).status === 'approved',
      () => 'the approval is recorded',
    );
    // It has ended if the store was silent for too long.
    if (child.kill('SIGKILL') && child.exitCode === null) await once(child, 'exit');
    silent.close();
    expect(await balance()).toMatchObject({ available: before });
    const run = ['corrections', 'run', correction.correctionId, '--json'];
    expect(JSON.parse((await ada.run(run)).stdout)).toMatchObject({ outcome: 'booked' });
    expect(JSON.parse((await ada.run(run)).stdout)).toMatchObject({ outcome: 'booked' });
    expect(await balance()).toMatchObject({ available: before + 11 });
  });

  it('keeps to the limits, and says which', async () => {
    const limits = { CORRECTION_MAX_CREDITS: '100', CORRECTION_DAILY_CREDITS: '150' };
    const mia = new Operator(stack, 'mia', settings);
    await ada.ops(['operators', 'add', '--name', 'mia', '--public-key', mia.publicKeyFile]);
    await grace.ops(['operators', 'confirm', 'mia', '--digest', mia.digest]);
    expect((await mia.run(adjust(101, 'BIG'), limits)).stderr).toBe(
      '101 credits are above the limit CORRECTION_MAX_CREDITS, which is 100. Nothing was proposed.\n',
    );
    await mia.ops(adjust(90, 'DAY-1'), limits);
    expect((await mia.run(adjust(-61, 'DAY-2'), limits)).stderr).toMatch(
      /^Workspace .* only \d+ credits are available, not 61/,
    );
    expect((await mia.run(adjust(61, 'DAY-2'), limits)).stderr).toBe(
      '61 credits are above the limit CORRECTION_DAILY_CREDITS, which is 150, 90 of them used today. Nothing was proposed.\n',
    );
  });

  it('of a revoked operator is not booked, nor can they approve', async () => {
    const eve = new Operator(stack, 'eve', settings);
    await ada.ops(['operators', 'add', '--name', 'eve', '--public-key', eve.publicKeyFile]);
    await grace.ops(['operators', 'confirm', 'eve', '--digest', eve.digest]);
    const [byAda, byEve] = [await proposed(adjust(3, 'R-1')), await proposed(adjust(3, 'R-2'), eve)];
    await grace.ops(['operators', 'revoke', 'eve', '--reason', 'laptop stolen']);
    expect((await eve.run(approval(byAda))).stderr).toMatch(/The key of eve is revoked/);
    expect((await grace.run(approval(byEve))).stderr).toMatch(/^eve is not trusted with this/);
    const { operators } = await ada.ops<{ operators: OperatorKey[] }>(['operators', 'list']);
    expect(operators.find(({ operator }) => operator === 'eve')).toMatchObject({ status: 'revoked' });
  });

  it('ends when it is withdrawn or rejected, and may be proposed again', async () => {
    const first = await proposed(adjust(4, 'AGAIN'));
    const { correctionId } = first;
    const because = ['--reason', 'wrong workspace'];
    expect((await grace.run(['corrections', 'withdraw', correctionId, ...because])).stderr).toMatch(
      /^Only ada, who proposed it/,
    );
    expect(await ada.ops(['corrections', 'withdraw', correctionId, ...because])).toMatchObject({
      status: 'withdrawn',
    });
    expect((await grace.run(approval(first))).stderr).toMatch(/^The correction is withdrawn/);
    expect(await proposed(adjust(400, 'AGAIN'))).toMatchObject({ correctionId, status: 'proposed' });
    expect((await grace.run(approval(first).toSpliced(3, 2))).stderr).toMatch(/^Add --proposal/);
    expect((await grace.run(approval(first))).stderr).toMatch(/has the digest .* Nothing was signed/);
    expect(await ada.ops(['corrections', 'show', correctionId])).toMatchObject({ approved: null });
    expect(await grace.ops(['corrections', 'reject', correctionId, ...because])).toMatchObject({
      status: 'rejected',
      ended: { reason: 'wrong workspace' },
    });
    const { corrections } = await ada.ops<{ corrections: Correction[] }>(['corrections', 'list']);
    expect(corrections[0]).toMatchObject({ correctionId, status: 'rejected' });
  });
});

describe('a reversal', () => {
  it('gives or takes at most what the entry moved, in all', async () => {
    await correct(adjust(50, 'GIFT'));
    const reverse = (reference: string, ...more: string[]) => [
      ...['credits', 'reverse', '--workspace', workspace, '--event', gift],
      ...['--reason', 'granted twice', '--reference', reference, ...more],
    ];
    const statement = ['ledger', 'statement', '--workspace', workspace];
    const { entries } = await ada.ops<{ entries: { eventId: string }[] }>(statement);
    const gift = entries.at(-1)!.eventId;
    const before = (await balance()).available;
    await correct(reverse('PART', '--amount', '-30'));
    expect((await ada.run(reverse('TOO-MUCH', '--amount', '-21'))).stderr).toMatch(
      /-50 credits may be reversed; -30 are already/,
    );
    const [one, other] = [await proposed(reverse('REST')), await proposed(reverse('REST-2'))];
    await grace.ops(approval(one));
    expect(await grace.run(approval(other))).toMatchObject({ code: 1 });
    expect(await balance()).toMatchObject({ available: before - 50 });
    expect((await ada.run(reverse('MORE'))).stderr).toMatch(/has nothing left to reverse/);
  });
});

describe('an order', () => {
  it('may have several packs, each once', async () => {
    const own = await open('Two packs');
    const add = (pack: string) => ['pack', 'add', '--workspace', own, '--pack', pack, '--order', 'INV-7'];
    expect(await stack.ops(add('flex'))).toMatchObject({ outcome: 'purchased', available: 50 });
    expect(await stack.ops(add('sprint'))).toMatchObject({ outcome: 'purchased', available: 250 });
    expect(await stack.ops(add('sprint'))).toMatchObject({ outcome: 'already_purchased', available: 250 });
  });

  it('counts in one workspace, also when two processes add it at once', async () => {
    const both = [await open('Left'), await open('Right')];
    const answers = await Promise.all(
      both.map((of) =>
        stack.runOps(['pack', 'add', '--workspace', of, '--pack', 'flex', '--order', 'INV-8']),
      ),
    );
    const winner = answers.findIndex(({ code }) => code === 0);
    expect(answers.map(({ code }) => code).toSorted()).toEqual([0, 1]);
    expect(answers[1 - winner]!.stderr).toBe(
      `Workspace ${both[winner]} has the pack flex of order INV-8. Nothing was added.\n`,
    );
    expect((await balance(both[1 - winner])).available).toBe(0);
  });

  it('is refunded once, with what is unused, and both operators see the dollars', async () => {
    const own = await open('Refunded');
    await stack.ops(['pack', 'add', '--workspace', own, '--pack', 'flex', '--order', 'INV-9']);
    await correct(adjust(-10, 'USED', own));
    const line = ['--workspace', own, '--pack', 'flex', '--order', 'INV-9', '--reason', 'returned'];
    const { stdout } = await ada.run(['pack', 'refund', ...line]);
    const dollars = /^US dollars to pay back for pack:INV-9:flex: 23\.20$/m;
    expect(stdout).toMatch(dollars);
    const proposal = await proposed(['pack', 'refund', ...line]);
    expect((await grace.run(['corrections', 'approve', proposal.correctionId])).stdout).toMatch(dollars);
    expect(await grace.ops(approval(proposal))).toMatchObject({
      outcome: 'booked',
      correction: { entries: [{ value: { as: 'refunds', of: 'pack:INV-9:flex', cents: 2_320 } }] },
    });
    expect(await balance(own)).toMatchObject({ available: 0, adjusted: -50 });
    expect((await ada.run(['pack', 'refund', ...line])).stderr).toMatch(
      /Corrections have taken back 40 of its 50 credits already/,
    );
  });
});

describe('a subscription', () => {
  it('changes and ends on dates that the commands say', async () => {
    const own = await open('Subscribed');
    const plan = (verb: string, ...more: string[]) => stack.ops(['plan', verb, '--workspace', own, ...more]);
    expect((await stack.runOps(['plan', 'change', '--workspace', own, '--plan', 'pro'])).stderr).toMatch(
      /has no subscription/,
    );
    const { subscription } = (await plan('subscribe', '--plan', 'studio')) as {
      subscription: { nextGrantAt: string };
    };
    const effectiveAt = subscription.nextGrantAt;
    const pro = { outcome: 'subscribed', available: 400, effectiveAt };
    expect(await plan('change', '--plan', 'pro')).toMatchObject(pro);
    expect(await plan('change', '--plan', 'pro')).toMatchObject({ ...pro, outcome: 'already_subscribed' });
    expect(await plan('show')).toMatchObject({ subscription: { plan: 'studio', nextPlan: 'pro' } });
    const cancelled = { outcome: 'cancelled', effectiveAt };
    expect(await plan('cancel', '--reference', 'TICKET-9')).toEqual(cancelled);
    expect(await plan('cancel')).toEqual({ ...cancelled, outcome: 'already_cancelled' });
    expect(await plan('show')).toMatchObject({ subscription: { endsAt: effectiveAt, nextPlan: null } });
    expect(await plan('change', '--plan', 'growth')).toMatchObject({
      effectiveAt,
      subscription: { endsAt: null, nextPlan: 'growth' },
    });
    expect(await plan('change', '--plan', 'pro', '--when', 'now')).toMatchObject({
      available: 2_400,
      subscription: { subscriptionId: 'sub2', plan: 'pro', nextPlan: null },
    });
    expect(await plan('cancel', '--when', 'now')).toMatchObject({ outcome: 'cancelled' });
    expect(await plan('show')).toEqual({ subscription: null });
    expect(await stack.ops(['ledger', 'find', 'TICKET-9'])).toMatchObject({
      entries: [{ type: 'SubscriptionCancelled', workspaceId: own }],
    });
  });
});

describe('the log', () => {
  it('has a correction of two operators for every entry, and shows one that has not', async () => {
    const verify = ['corrections', 'verify', '--json'];
    const report = await ada.ops(verify.slice(0, 2));
    expect(report).toMatchObject({ findings: [], earlierEntries: 1 });
    const out = `${ada.keyFile}.jsonl`;
    const { sha256 } = await ada.ops<{ sha256: string }>(['corrections', 'export', '--out', out]);
    const file = ['--file', out, '--sha256', sha256, '--root', ...settings['OPERATOR_ROOT_KEYS']!.split(',')];
    expect(await ada.ops([...verify.slice(0, 2), ...file])).toEqual({ ...report, sha256, missing: [] });
    await give(1_000);
    const { code, stdout } = await ada.run(verify);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { findings: [{ stream: `credits-${workspace}`, message: expect.stringMatching(/^no two operators/) }] },
    ]);
    const ledger = await ada.run(['ledger', 'verify', '--workspace', workspace, '--json']);
    expect(ledger.code).toBe(1);
    expect(JSON.parse(ledger.stdout)).toMatchObject({ ok: false, corrections: JSON.parse(stdout).findings });
    const other = await ada.run([...verify, '--root', ada.digest]);
    const [first] = (JSON.parse(other.stdout) as CorrectionsReport).findings;
    expect(first).toMatchObject({ message: expect.stringMatching(/NotARootKey/) });
  });
});
