import { beforeEach, describe, expect, it } from '@jest/globals';
import type { QueryBus } from '@nestjs/cqrs';
import { testPool } from '../../../../test/support/test-pool.js';
import { FindExpiringGrants, FindLowBalances } from '../contracts/messages.js';
import { GetCreditsController } from './get-credits.controller.js';
import { FindExpiringGrantsHandler, FindLowBalancesHandler } from './get-credits.js';

it('The credits of a workspace without a book are a refusal that says when to come back', async () => {
  const queries = { execute: async () => null } as unknown as QueryBus;
  const caller = { workspaceId: 'ws_2', mode: 'live' } as never;
  await expect(new GetCreditsController(queries).get(caller)).rejects.toMatchObject({
    code: 'billing_misconfigured',
    options: { headers: { 'Retry-After': '60' } },
  });
});

describe('scarce credits', () => {
  const pool = testPool();
  beforeEach(() => pool.query('truncate billing.balance'));

  const book = (
    workspaceId: string,
    available: number,
    toppedUpTo: number | null,
    agenda: object = { grants: [] },
    mode = 'live',
  ) =>
    pool.query(
      `insert into billing.balance (workspace_id, mode, available, granted, revision, due_at, updated_at, topped_up_to, topped_up_by, agenda)
     values ($1, $5, $2, $2, 1, '2026-04-30T00:00:00Z', now(), $3, 'g', $4)`,
      [workspaceId, available, toppedUpTo, JSON.stringify(agenda), mode],
    );
  const low = async (percent: number) =>
    new FindLowBalancesHandler(pool).execute(new FindLowBalances(percent, ''));

  describe('Low balances', () => {
    it('are below the share, and of books that know their last top-up', async () => {
      await book('ws_low', 39, 400);
      await book('ws_at_the_mark', 40, 400);
      await book('ws_unknown', 0, null);
      await book('ws_unknown', 39, 400, {}, 'test');
      expect(await low(10)).toEqual({
        found: [{ workspaceId: 'ws_low', available: 39, toppedUpTo: 400, toppedUpBy: 'g' }],
        next: null,
      });
    });

    it('come in pages without a gap', async () => {
      for (let n = 0; n < 501; n += 1) await book(`ws_${String(n).padStart(4, '0')}`, 0, 400);
      const first = await low(10);
      expect([first.found.length, first.next]).toEqual([500, 'ws_0499']);
      const rest = await new FindLowBalancesHandler(pool).execute(new FindLowBalances(10, first.next!));
      expect(rest).toMatchObject({ found: [{ workspaceId: 'ws_0500' }], next: null });
    });
  });

  describe('Expiring grants', () => {
    it('have credits left, and expire within the time', async () => {
      const grant = (grantId: string, remaining: number, expiresAt: string) => ({
        grantId,
        remaining,
        expiresAt,
      });
      await book('ws_1', 50, 400, {
        grants: [
          grant('soon', 20, '2026-04-30T00:00:00.000Z'),
          grant('used', 0, '2026-04-30T00:00:00.000Z'),
          grant('later', 30, '2026-05-30T00:00:00.000Z'),
          grant('over', 10, '2026-04-20T00:00:00.000Z'),
        ],
      });
      const ofTestBook = [grant('of a test book', 20, '2026-04-30T00:00:00.000Z')];
      await book('ws_1', 50, 400, { grants: ofTestBook }, 'test');
      const { found } = await new FindExpiringGrantsHandler(pool).execute(
        new FindExpiringGrants('2026-04-24T00:00:00.000Z', '2026-05-01T00:00:00.000Z', ''),
      );
      expect(found).toEqual([
        { workspaceId: 'ws_1', grantId: 'soon', remaining: 20, expiresAt: '2026-04-30T00:00:00.000Z' },
      ]);
    });
  });
});
