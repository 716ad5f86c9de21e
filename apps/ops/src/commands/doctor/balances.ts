import { creditsEvents } from '#billing/contracts/index.js';
import { isSetAside } from '#event-sourcing/core/event.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { stoppedStreams } from '#event-sourcing/parking/parked-streams.js';
import { findCheckpoint } from '#event-sourcing/projections/checkpoint.js';
import type { Session } from '../../session.js';
import { failure, ok, type Finding } from './finding.js';

const BALANCE = 'billing.balance.v1';
/** Books looked up in the event store, at most. */
const MOST = 20;

/**
 * Balances that were deleted, before the next event of their books. Compares tables, and reads the first event of each
 * book that has no balance: it makes the row. An emptied table and a parked stream are findings of other checks.
 */
export const checkBalances = async ({ pool, store }: Pick<Session, 'pool' | 'store'>): Promise<Finding[]> => {
  // Before the rows: those that it covers are there.
  const upTo = (await findCheckpoint(pool, BALANCE))?.position ?? -1n;
  const parked = (await stoppedStreams(pool)).filter(({ consumer }) => consumer === BALANCE);
  const { rows } = await pool.query<{ workspace_id: string }>(
    `select workspace_id from workspaces.workspace
     where not exists (select from billing.balance where balance.workspace_id = workspace.workspace_id and mode = 'live')
       and exists (select from billing.balance where mode = 'live')
     order by workspace_id limit $1`,
    [MOST],
  );
  const found: Finding[] = [];
  for (const { workspace_id } of rows) {
    const stream = streamName(creditsEvents.category, workspace_id);
    if (parked.some((one) => one.stream === stream)) continue;
    for await (const event of store.read(stream, { limit: 1 }))
      if (event.type === 'BookOpened' && !isSetAside(event, BALANCE) && event.position <= upTo)
        found.push(
          failure(
            'balances',
            `workspace ${workspace_id} has a credit book and no balance: the row was deleted`,
            `ops projections replay ${BALANCE} --stream ${stream}`,
          ),
        );
  }
  if (found.length > 0) return found;
  const said =
    rows.length < MOST ? 'every book has one' : `of ${MOST} workspaces without one, none has a book`;
  return [ok('balances', said)];
};
