import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Correction } from '#billing/contracts/index.js';
import { programPath } from '#platform/program-path.js';
import { runVerifier } from '../../libs/billing/test/run-verifier.js';
import { askCompanion } from '../support/companion.js';
import { startStack, type StartedStack } from '../support/index.js';
import { until } from '../support/integrator.js';
import { approval, Operator, twoOperators } from '../support/operators.js';
import { storeThatFallsSilent } from '../support/silent-store.js';

let stack: StartedStack;
let workspace: string;
let ada: Operator;
let grace: Operator;
let correct: ReturnType<typeof twoOperators>['correct'];

const open = async (name: string) =>
  ((await stack.ops(['workspace', 'create', '--name', name])) as { workspaceId: string }).workspaceId;
const balance = async (of = workspace) =>
  (await stack.ops(['ledger', 'balance', '--workspace', of])) as { available: number; adjusted: number };
/** Nobody signs it. */
const give = (amount: number) =>
  askCompanion('/credits', { eventStoreUrl: stack.eventStoreUrl, workspaceId: workspace, amount });
const adjust = (amount: number, reference: string, of = workspace): string[] => [
  ...['credits', 'adjust', '--workspace', of, '--amount', String(amount)],
  ...['--reason', 'outage of 3 April', '--reference', reference],
];
const proposed = async (args: readonly string[], by = ada): Promise<Correction> =>
  (await by.ops<{ correction: Correction }>(args)).correction;

beforeAll(async () => {
  stack = await startStack();
  workspace = await open('Corrected');
  ({ ada, grace, correct } = twoOperators(stack));
});

afterAll(() => stack?.stop());

describe('operators', () => {
  it('have keys that the stack made, and that only they can read', async () => {
    expect(statSync(ada.keyFile).mode & 0o777).toBe(0o600);
    chmodSync(ada.keyFile, 0o640);
    expect((await ada.run(adjust(1, 'MODE'))).stderr).toMatch(/^Others can read .*chmod 600/);
    chmodSync(ada.keyFile, 0o600);
  });

  it('make further keys, which sign once OPERATORS names them and until they are retired', async () => {
    const made = await ada.ops<{ privateKey: string; operator: string }>([
      ...['corrections', 'keygen', '--name', 'lin', '--out', join(stack.dataDir, 'keys-of-lin')],
    ]);
    const lin = new Operator(stack, made.privateKey);
    expect((await lin.run(adjust(1, 'LIN'))).stderr).toMatch(/^OPERATORS names the key in .* nowhere/);
    const retired = await lin.run(adjust(1, 'LIN'), { OPERATORS: `${made.operator}:retired` });
    expect(retired.stderr).toMatch(/^OPERATORS names the key in .* as retired/);
    expect(await lin.ops(adjust(1, 'LIN'), { OPERATORS: made.operator })).toMatchObject({
      correction: { proposedBy: 'lin' },
    });
  });
});

describe('a correction', () => {
  it('changes nothing until another person has approved it, and is then booked once', async () => {
    const before = (await balance()).available;
    const correction = await proposed(adjust(20, 'INC-42'));
    const { correctionId } = correction;
    expect(await ada.ops(adjust(20, 'INC-42'))).toMatchObject({ outcome: 'already_proposed' });
    expect((await ada.run(adjust(30, 'INC-42'))).stderr).toMatch(/has this reference, and is proposed/);
    expect(await balance()).toMatchObject({ available: before });
    expect(await ada.run(approval(correction))).toMatchObject({
      code: 1,
      stderr: 'ada proposed it: another person must approve it. Nothing changed.\n',
    });
    expect(await grace.ops(['corrections', 'approve', correctionId])).toMatchObject({
      outcome: 'not_approved',
      correction: { status: 'proposed', credits: 20 },
    });
    for (let time = 0; time < 2; time += 1)
      expect(await grace.ops(approval(correction))).toMatchObject({
        outcome: 'booked',
        correction: { status: 'booked', approvedBy: 'grace' },
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
      env: { ...process.env, ...asGrace, EVENTSTORE_URL: silent.url },
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
    for (let time = 0; time < 2; time += 1)
      expect(await grace.ops(approval(correction))).toMatchObject({ outcome: 'booked' });
    expect(await balance()).toMatchObject({ available: before + 11 });
  });

  it('keeps to the limit, and says which', async () => {
    expect((await ada.run(adjust(101, 'BIG'), { CORRECTION_MAX_CREDITS: '100' })).stderr).toBe(
      '101 credits are above the limit CORRECTION_MAX_CREDITS, which is 100. Nothing changed.\n',
    );
    expect((await ada.run(adjust(-9_999, 'LESS'))).stderr).toMatch(
      /^Workspace .* only \d+ credits are available, not 9999/,
    );
  });

  it('ends when it is rejected, and its reference is used', async () => {
    const correction = await proposed(adjust(4, 'REJECTED'));
    const { correctionId } = correction;
    const reject = ['corrections', 'reject', correctionId, '--reason', 'wrong workspace'];
    expect(await grace.ops(reject)).toMatchObject({ status: 'rejected', rejected: 'wrong workspace' });
    expect((await grace.run(approval(correction))).stderr).toMatch(/^The correction is rejected/);
    expect((await ada.run(adjust(4, 'REJECTED'))).stderr).toMatch(/has this reference, and is rejected/);
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

describe('the audits', () => {
  const verified = async (args: readonly string[] = ['--workspace', workspace], settings = {}) => {
    const { code, stdout } = await ada.run(['ledger', 'verify', ...args, '--json'], settings);
    return { code, ...(JSON.parse(stdout) as { ok: boolean; corrections: object[] }) };
  };
  /** An export, as the auditor checks it with the keys that they know. */
  const offline = async (operators: string) => {
    const out = join(stack.dataDir, `book-${randomUUID()}.jsonl`);
    const file = join(stack.dataDir, 'operators.txt');
    writeFileSync(file, operators);
    await ada.ops(['ledger', 'export', '--workspace', workspace, '--format', 'jsonl', '--out', out]);
    return runVerifier(stack.dataDir, readFileSync(out, 'utf8'), ['--operators', file]).result;
  };

  it('know the operators of each entry, and find one that nobody approved', async () => {
    const runtime = readFileSync(join(stack.dataDir, 'runtime.json'), 'utf8');
    const { OPERATORS } = JSON.parse(runtime) as { OPERATORS: string };
    expect(await verified()).toMatchObject({ code: 0, ok: true, corrections: [] });
    expect(await offline(OPERATORS)).toMatchObject({ ok: true, findings: [] });
    const other = { OPERATORS: OPERATORS.replace('ada:', 'eve:') };
    expect(await verified(['--all'], other)).toMatchObject({
      code: 1,
      corrections: expect.arrayContaining([
        expect.objectContaining({ message: 'ada, who is to have signed this entry, is no operator' }),
      ]),
    });
    await give(1_000);
    const finding = { message: 'no two operators signed this entry' };
    expect(await verified()).toMatchObject({ code: 1, ok: false, corrections: [finding] });
    expect(await offline(OPERATORS)).toMatchObject({ ok: false, findings: [finding] });
  });
});
