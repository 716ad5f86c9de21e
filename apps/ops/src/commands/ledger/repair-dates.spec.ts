import { expect, it } from '@jest/globals';
import type { CorrectionStatus, DateAdjustment } from '@app/billing/contracts/index.js';
import { correctionIdOf } from '../../corrections/propose.js';
import { describeRepair, freeReference, type Answer } from './repair-dates.js';

const WS = 'ws_1';

/** A session whose corrections have these references. */
const holding = (corrections: Readonly<Record<string, CorrectionStatus>>) => {
  const byId = new Map(
    Object.entries(corrections).map(([reference, status]) => [
      correctionIdOf('date_repair', WS, reference),
      { status },
    ]),
  );
  return {
    queries: {
      execute: async ({ correctionId }: { correctionId: string }) => byId.get(correctionId) ?? null,
    },
  } as unknown as Parameters<typeof freeReference>[0];
};

it('Each part of a repair has a reference of its own', async () => {
  expect(await freeReference(holding({}), WS, 'INC-42')).toBe('INC-42');
  expect(await freeReference(holding({ 'INC-42': 'proposed' }), WS, 'INC-42')).toBe('INC-42/2');
  const three = { 'INC-42': 'booked', 'INC-42/2': 'approved' } as const;
  expect(await freeReference(holding(three), WS, 'INC-42')).toBe('INC-42/3');
  expect(await freeReference(holding({ 'INC-42': 'withdrawn' }), WS, 'INC-42')).toBe('INC-42');
});

it('The command says what it proposed, what others have proposed, and what is left', () => {
  const adjustment: DateAdjustment = {
    reference: 'clock:e1',
    reversesEventId: 'e1',
    cause: 'a clock was wrong',
    amount: 20,
    grantId: null,
    expiresAt: null,
    notBefore: null,
  };
  const plan: Answer = {
    workspaceId: WS,
    misdated: 3,
    adjustments: [adjustment, { ...adjustment, reference: 'clock:e2', reversesEventId: 'e2' }],
    next: 1,
    open: [{ correctionId: 'c1', reference: 'INC-42', status: 'approved', entries: 500 }],
    notes: [],
    proposal: null,
  };
  expect(describeRepair(plan)).toContain('500 entries are in the correction c1 (INC-42), which is approved.');
  expect(describeRepair(plan)).toContain('The next proposal takes 1 of 2 entries.');
  const correction = { correctionId: 'c2', proposal: '41ab' };
  const proposal = { outcome: 'proposed', correction } as NonNullable<Answer['proposal']>;
  const proposed = describeRepair({ ...plan, proposal });
  expect(proposed).toContain('Proposed 1 entries as one correction.');
  expect(proposed).toContain('1 entries are left: run the command again.');
  expect(describeRepair({ ...plan, adjustments: [], next: 0 })).toContain('Nothing else is to be booked.');
});
