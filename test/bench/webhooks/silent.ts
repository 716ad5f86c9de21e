import { atMost, told } from '../report.js';
import { addDeliveries, addEndpoint } from './deliveries.js';
import { PACE, at, pacedLatency, type Setting } from './sending.js';

/** Endpoints that never answer, each in a workspace of its own, and deliveries due at each. */
const SILENT = 500;
const DUE_AT_EACH = 4;
/** Runs of each kind. The best counts, since other load on the machine can only slow it. */
const ROUNDS = 3;

const empty = ({ pool }: Setting): Promise<unknown> =>
  pool.query(
    'truncate webhooks.delivery, webhooks.settled_delivery, webhooks.workspace_lease, webhooks.endpoint_health',
  );

/** Alternates runs without and with hundreds of endpoints that never answer, with one worker and with two. */
export const measureSilent = async (setting: Setting): Promise<void> => {
  const { pool, databaseUrl, ports, settings } = setting;
  const silent: string[] = [];
  for (let n = 0; n < SILENT; n += 1) silent.push(await addEndpoint(pool, databaseUrl, at(ports.blackHole)));
  for (const workers of [1, 2]) {
    const alone: number[] = [];
    const beside: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      for (const measured of [alone, beside]) {
        await empty(setting);
        if (measured === beside) await addDeliveries(pool, silent, SILENT * DUE_AT_EACH);
        measured.push(await pacedLatency(setting, settings.seconds, workers));
      }
    const [p99, besideP99] = [Math.min(...alone), Math.min(...beside)];
    const who = workers === 1 ? 'one worker' : 'two workers';
    settings.add(told(`due delivery to arrival at ${PACE}/s, ${who}, p99`, p99, 'ms'));
    settings.add(told(`the same beside ${SILENT} endpoints that never answer, p99`, besideP99, 'ms'));
    settings.add(atMost(`p99 beside the ${SILENT}, ${who}; floor: without them`, besideP99 / p99, '×', 3));
  }
  await empty(setting);
  await pool.query('delete from webhooks.endpoint where endpoint_id = any ($1)', [silent]);
};
