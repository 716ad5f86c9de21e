import { Counter, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import type { FrontDoor, RefusalReason } from './front-door.js';

const EVERY_MS = 60_000;

/**
 * Logs counts of refused requests once a minute, because a line per request would amplify a flood. @returns a function
 * that stops it
 */
export const reportRefusals = (
  { refused }: Pick<FrontDoor, 'refused'>,
  registry: Registry,
  log: Pick<Logger, 'warn'>,
): (() => void) => {
  const reasons = Object.keys(refused) as RefusalReason[];
  new Counter({
    name: 'http_refused_total',
    help: 'Requests refused (429) for their address (rate), and connections cut off, by reason',
    labelNames: ['reason'],
    registers: [registry],
    collect() {
      this.reset();
      for (const reason of reasons) this.inc({ reason }, refused[reason]);
    },
  });
  let before = { ...refused };
  const telling = setInterval(() => {
    const since = Object.fromEntries(reasons.map((reason) => [reason, refused[reason] - before[reason]]));
    before = { ...refused };
    if (Object.values(since).some((count) => count > 0)) log.warn(since, 'refused at the door');
  }, EVERY_MS).unref();
  return () => clearInterval(telling);
};
