import { it } from '@jest/globals';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CreditsEvent } from '../contracts/events.js';
import { MONEY_FIGURES, type Money } from '../contracts/queries.js';
import { credits } from '../domain/credits.decider.js';
import { noBook } from '../domain/credits.state.js';
import { WS } from '../../test/book.js';
import { commands } from '../../test/commands.js';
import { BookMoney } from './book-money.js';

const isBalanced = ({ opening, sales, earned, breakage, corrections, closing }: Money): boolean =>
  opening + sales - earned - breakage - corrections === closing;

it('Any book balances in money: each month continues the one before, and the months sum to the whole', () => {
  fc.assert(
    fc.property(commands, (sequence) => {
      const now = sequence[0]?.now ?? 0;
      const money = new BookMoney();
      const months: Money[] = [];
      let state = noBook;
      const carryOut = (events: readonly CreditsEvent[]): void => {
        for (const event of events) {
          const before = state;
          state = credits.evolve(before, event);
          money.see(event, before, state);
          if (event.type === 'PeriodClosed') months.push(money.closedMonth!);
        }
      };
      for (const command of [{ type: 'OpenBook', workspaceId: WS, now } as const, ...sequence]) {
        const decision = credits.decide(command, state);
        if (decision.kind === 'accept') carryOut(decision.events);
      }
      months.push(money.openMonth(state)!);
      const all = money.all(state)!;
      for (const [index, month] of months.entries()) {
        assert.ok(isBalanced(month));
        assert.equal(month.opening, months[index - 1]?.closing ?? 0);
        assert.ok(MONEY_FIGURES.every((name) => month[name] >= 0));
      }
      assert.ok(isBalanced(all));
      for (const name of ['sales', 'earned', 'breakage', 'corrections'] as const)
        assert.equal(
          months.reduce((sum, month) => sum + month[name], 0),
          all[name],
        );
    }),
    { numRuns: 300 },
  );
});
