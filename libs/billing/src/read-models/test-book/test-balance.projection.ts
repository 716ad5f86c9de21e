import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import { testBookEvents, type TestAccount, type TestBookEvent } from '../../contracts/test-book.js';
import { evolve, noTestBook, testPostings } from '../../domain/test-book/test-book.state.js';
import { RowMissing } from '../row-missing.js';

interface TestBalanceRow {
  readonly workspace_id: string;
  readonly available: number | string;
  readonly held: number | string;
  readonly consumed: number | string;
  readonly filled: number | string;
  /** Revision of the last event applied. */
  readonly revision: string;
  readonly updated_at: string;
}

type Event = Recorded<TestBookEvent>;

const balances = view<TestBalanceRow, Event>({
  table: 'billing.test_balance',
  key: ['workspace_id'],
  keyOf: ({ stream }) => ({ workspace_id: streamId(stream) }),
  evolve(row, event) {
    if (row !== null && BigInt(row.revision) >= event.revision) return row;
    const seen = { revision: String(event.revision), updated_at: event.metadata.occurredAt };
    if (event.type === 'TestBookFilled') {
      const { available, held, consumed } = evolve(noTestBook, event);
      const filled = available + held + consumed;
      return { workspace_id: streamId(event.stream), available, held, consumed, filled, ...seen };
    }
    if (row === null) throw new RowMissing();
    const after = (account: TestAccount): number =>
      testPostings(event).reduce(
        (sum, one) => (one.account === account ? sum + one.amount : sum),
        Number(row[account]),
      );
    return {
      ...row,
      available: after('available'),
      held: after('held'),
      consumed: after('consumed'),
      ...seen,
    };
  },
});

/** One row per test book. A fill states the whole row; any other event moves credits in it, once. */
export const testBalanceProjection = defineProjection({
  name: 'billing.test-balance.v1',
  catalogues: [testBookEvents],
  views: [balances],
});
