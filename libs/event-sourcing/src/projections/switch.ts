import { setTimeout as delay } from 'node:timers/promises';
import type { Projection } from './projection.js';
import { atEqualPosition } from './rebuild.js';
import {
  exchangeTables,
  Refused,
  buildingVersion,
  requireSameShape,
  takeOverParked,
  versionsOf,
  type Version,
  type Workshop,
} from './versions.js';

export interface SwitchRequest {
  /** `operator:<login name>` */
  readonly by: string;
  /** The operator's reason to accept rows that differ or were not verified, or parked streams. */
  readonly acceptDifferences?: string;
}

/** How long a switch waits for its lock. Readers queue behind it meanwhile, so it then retries after a pause. */
const LOCK_WITHIN = '1s';
/** Readers wait during the exchange, so a frozen switch is undone soon. */
const PAUSE_WITHIN = '10s';
const TRIES = 20;
const PAUSE_MS = 250;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Replaces the live version by the one being built, in one transaction: readers see either of them, and the live view
 * continues from the same position. The old tables stay until they are dropped.
 * @throws Refused with every reason why it would not be safe
 */
export const switchVersion = async (
  workshop: Workshop,
  projection: Projection,
  request: SwitchRequest,
): Promise<{ version: number; retired: number; position: bigint }> => {
  const building = await buildingVersion(workshop, projection);
  const reasons = request.acceptDifferences === undefined ? reasonsAgainst(projection, building) : [];
  if (reasons.length > 0) throw new Refused(reasons);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await exchange(workshop, projection, building, request);
    } catch (error) {
      if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === TRIES)
        throw new Refused([
          `${projection.name} was not switched: readers kept its tables locked. Try again.`,
        ]);
      await delay(PAUSE_MS);
    }
  }
};

const reasonsAgainst = (projection: Projection, building: Version): readonly string[] => {
  const { version, verifiedPosition, differences, parkedStreams } = building;
  const which = `Version ${version} of ${projection.name}`;
  const reasons: string[] = [];
  if (building.position === null) reasons.push(`${which} is empty: its rebuild has not handled any event.`);
  else if (verifiedPosition === null) reasons.push(`${which} was not verified.`);
  if (differences !== null && differences > 0)
    reasons.push(`${which} differs from the live one in ${differences} rows.`);
  if (parkedStreams > 0)
    reasons.push(`${which} has ${parkedStreams} parked streams: ops doctor names their cause.`);
  return reasons;
};

const exchange = (
  workshop: Workshop,
  projection: Projection,
  building: Version,
  { by, acceptDifferences }: SwitchRequest,
): Promise<{ version: number; retired: number; position: bigint }> =>
  atEqualPosition(workshop, projection, building, async (client, position) => {
    const { version } = building;
    await requireSameShape(client, projection, version);
    const live = (await versionsOf(client, projection)).find(({ state }) => state === 'live')!.version;
    await client.query(
      `set local lock_timeout = '${LOCK_WITHIN}'; set local synchronous_commit = on;
       set local idle_in_transaction_session_timeout = '${PAUSE_WITHIN}'`,
    );
    for (const view of projection.views) await exchangeTables(client, view, live, version);
    await client.query(
      `insert into event_sourcing.projection_version (projection, version, state) values ($1, $2, 'retired')
       on conflict (projection, version) do update set state = 'retired'`,
      [projection.name, live],
    );
    await client.query(
      `update event_sourcing.projection_version
       set state = 'live', switched_at = now(), switched_by = $3, reason = $4 where projection = $1 and version = $2`,
      [projection.name, version, by, acceptDifferences ?? null],
    );
    // A rebuild skips effects: those of parked events, such as the deletion of a key, are still due.
    await takeOverParked(client, projection, version);
    return { version, retired: live, position };
  });
