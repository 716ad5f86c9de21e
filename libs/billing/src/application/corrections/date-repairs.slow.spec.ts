import { beforeEach, describe, expect, it } from '@jest/globals';
import { adjustment } from '../../../test/adjustment.js';
import { CorrectionOffice, type Proposed } from '../../../test/correction-office.js';
import { BookVerifier } from '../../audit/verify-book.js';
import { PlanDateRepair, type DateRepair } from '../../contracts/date-repair.js';
import { createCreditsExecutor } from '../../credits.executor.js';
import type { CreditsCommand } from '../../domain/credits/credits.commands.js';
import { available } from '../../domain/credits/credits.state.js';
import { CreditBooks } from '../credit-books.js';

const DAY_MS = 86_400_000;
const EXPIRES = '2026-12-05T00:00:00.000Z';
/** Credits of each gift. */
const GIFTS = [386, ...Array.from({ length: 501 }, () => 4)];
const DAMAGED_AT = Date.parse('2026-11-22T12:00:00.000Z');
const BY = { actor: 'system:test', correlationId: 'c', causationId: 'c' };

/** Commands of one process, whose clock is off. */
const processOff = (office: CorrectionOffice, ms: number) => {
  const books = new CreditBooks(createCreditsExecutor(office.store, 10_000), { now: () => office.now + ms });
  let commands = 0;
  return async (workspaceId: string, command: object): Promise<void> => {
    const name = `command ${ms} ${(commands += 1)}`;
    const outcome = await books.execute(
      workspaceId,
      (now) => ({ ...command, now }) as CreditsCommand,
      name,
      BY,
    );
    if (outcome.kind === 'rejected') throw new Error(outcome.code);
  };
};

/** One book with a large plan, one with a plan and many gifts. A worker 40 days ahead looks at both on 22 November. */
const office = async (isDamaged: boolean, gifts = GIFTS): Promise<CorrectionOffice> => {
  // A month of the largest plan goes out and comes back: 20,000 credits.
  const limits = { CORRECTION_MAX_CREDITS: 20_000, CORRECTION_DAILY_CREDITS: 200_000 };
  const opened = await CorrectionOffice.open(limits);
  opened.now = Date.parse('2026-11-10T08:00:00.000Z');
  const right = processOff(opened, 0);
  const subscribe = { type: 'SubscribeToPlan', approvalRef: null };
  await right('ws_1', { ...subscribe, plan: 'growth' });
  await right('ws_1', { type: 'ReserveCredits', reservationId: 'r1', readingId: 'reading-r1', amount: 20 });
  await right('ws_2', { ...subscribe, plan: 'pro' });
  const { entries, ...correction } = adjustment({ adjustmentId: 'gift', amount: 1, expiresAt: EXPIRES });
  if (gifts.length > 0) {
    const given = gifts.map((amount, index) => ({ ...entries[0]!, amount, adjustmentId: `gift-${index}` }));
    await right('ws_2', { ...correction, entries: given });
  }
  opened.now = DAMAGED_AT;
  if (isDamaged)
    for (const ws of ['ws_1', 'ws_2']) await processOff(opened, 40 * DAY_MS)(ws, { type: 'RecordDue' });
  opened.now += 60_000;
  return opened;
};

const planOf = (desk: CorrectionOffice, workspaceId: string): Promise<DateRepair> =>
  desk.process().dates.execute(new PlanDateRepair(workspaceId)) as Promise<DateRepair>;

/** Proposes the next part of the plan. */
const propose = async (desk: CorrectionOffice, workspaceId: string): Promise<Proposed> => {
  const { adjustments, next } = await planOf(desk, workspaceId);
  const entries = adjustments
    .slice(0, next)
    .map(({ cause: reason, ...one }) => ({ ...one, workspaceId, reason }));
  const proposal = desk.proposedAs(`repair ${entries[0]!.reference}`, entries, undefined, 'date_repair');
  expect(await desk.record(proposal)).toMatchObject({ outcome: 'recorded' });
  return proposal;
};

const balance = async (desk: CorrectionOffice, workspaceId: string): Promise<number> => {
  await processOff(desk, 0)(workspaceId, { type: 'RecordDue' });
  const book = await new CreditBooks(createCreditsExecutor(desk.store, 10_000), desk.clock).current(
    workspaceId,
  );
  return available(book!);
};

const findings = (desk: CorrectionOffice, workspaceId: string) => {
  const stream = `credits-${workspaceId}`;
  const verifier = new BookVerifier(stream, 10_000);
  for (const event of desk.store.log) if (event.stream === stream) verifier.see(event);
  return verifier.report().findings;
};

describe('14,370 credits that expired too early, and two months that were granted and closed too early', () => {
  it('are proposed 500 entries at a time, and come back as if the clock had been right', async () => {
    const damaged = await office(true);
    const expired = damaged.store.log.filter(({ type }) => type === 'GrantExpired');
    expect(expired.reduce((sum, { data }) => sum + (data as { amount: number }).amount, 0)).toBe(14_370);
    const months = damaged.store.log.filter(
      ({ type, recordedAt }) => type === 'PeriodClosed' && recordedAt === DAMAGED_AT,
    );
    expect(months.map(({ stream }) => stream)).toEqual([
      ...['credits-ws_1', 'credits-ws_1'],
      ...['credits-ws_2', 'credits-ws_2'],
    ]);
    const control = await office(false);
    const later: string[] = [];
    const sizes: number[] = [];
    for (const ws of ['ws_1', 'ws_2']) {
      while ((await planOf(damaged, ws)).adjustments.length > 0) {
        const proposal = await propose(damaged, ws);
        sizes.push(proposal.data.entries.length);
        await damaged.record(damaged.approved(proposal));
        const { correctionId } = proposal.data;
        const { outcome } = await damaged.book(correctionId);
        if (outcome === 'incomplete' || (await damaged.status(correctionId)) === 'approved')
          later.push(correctionId);
      }
    }
    expect(sizes).toEqual([1, 2, 500, 5]);
    for (const ws of ['ws_1', 'ws_2']) expect(findings(damaged, ws)).toEqual([]);
    for (const date of ['2026-11-22T13:00:00Z', '2026-12-10T00:00:01Z', '2027-01-10T00:00:01Z']) {
      for (const desk of [damaged, control]) desk.now = Date.parse(date);
      for (const ws of ['ws_1', 'ws_2']) await processOff(damaged, 0)(ws, { type: 'RecordDue' });
      for (const id of later) await damaged.book(id);
      for (const ws of ['ws_1', 'ws_2'])
        expect([date, ws, await balance(damaged, ws)]).toEqual([date, ws, await balance(control, ws)]);
    }
  }, 120_000);
});

describe('A plan to repair dates', () => {
  let damaged: CorrectionOffice;
  beforeEach(async () => {
    damaged = await office(true, []);
  });
  const references = async () =>
    (await planOf(damaged, 'ws_1')).adjustments.map(({ reference }) => reference);

  it('leaves out what is in an open correction, and names it', async () => {
    const all = await references();
    const proposal = await propose(damaged, 'ws_1');
    expect(proposal.data.entries.map(({ reference }) => reference)).toEqual(all.slice(0, 1));
    const { correctionId, reference } = proposal.data;
    const open = { correctionId, reference, status: 'proposed', entries: 1 };
    expect(await planOf(damaged, 'ws_1')).toMatchObject({ next: 2, open: [open] });
    expect(await references()).toEqual(all.slice(1));
    // Another book has nothing of it.
    expect(await planOf(damaged, 'ws_2')).toMatchObject({ open: [] });

    damaged.now += 12 * 3_600_000;
    await damaged.record(damaged.approved(proposal));
    damaged.now += 5 * DAY_MS;
    expect(await planOf(damaged, 'ws_1')).toMatchObject({ next: 2, open: [{ status: 'approved' }] });
  });

  it('has it again once the correction has ended', async () => {
    const all = await references();
    const first = await propose(damaged, 'ws_1');
    await damaged.record(damaged.withdrawn(first));
    expect(await references()).toEqual(all);
    damaged.now += 60_000;
    await propose(damaged, 'ws_1');
    expect(await references()).toEqual(all.slice(1));
    damaged.now += 2 * DAY_MS;
    expect(await references()).toEqual(all);
  });
});
