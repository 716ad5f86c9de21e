import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';

/** When an endpoint with a limit of its own may be sent the next delivery (ms since the epoch). */
export interface Pace {
  readonly endpointId: string;
  readonly pacedUntil: number;
}

/** So much of a second may be sent at once, since a worker looks only now and then. */
const BURST_MS = 50;
/** A claim is kept for a turn that comes this soon. */
const SOON_MS = 100;

/** Spaces the deliveries of one endpoint evenly (the generic cell rate algorithm). Times in milliseconds. */
export class EndpointPace {
  private readonly spacingMs: number;
  /** When the next delivery would be sent at an even pace. */
  private evenAt: number;

  constructor(perSecond: number, pacedUntil: number) {
    this.spacingMs = 1_000 / perSecond;
    this.evenAt = pacedUntil + this.burstMs;
  }

  private get burstMs(): number {
    return Math.max(0, BURST_MS - this.spacingMs);
  }

  /** From then on the next delivery may be sent. */
  get nextAt(): number {
    return this.evenAt - this.burstMs;
  }

  allows(now: number): boolean {
    return now >= this.nextAt;
  }

  isSoon(now: number): boolean {
    return now >= this.nextAt - SOON_MS;
  }

  /** A delivery is sent. */
  take(now: number): void {
    this.evenAt = Math.max(this.evenAt, now) + this.spacingMs;
  }
}

/** Keeps paces for the next claim, by any worker. After a kill, the last time slice is forgotten. */
export const savePaces = async (
  client: Pick<pg.PoolClient, 'query'>,
  paces: readonly Pace[],
): Promise<void> => {
  if (paces.length === 0) return;
  await client.query({
    name: 'webhooks.paces',
    text: `
      insert into webhooks.endpoint_health as health (endpoint_id, paced_until)
      select endpoint_id, paced_until from unnest($1::text[], $2::timestamptz[]) pace (endpoint_id, paced_until)
      order by endpoint_id
      on conflict (endpoint_id) do update set paced_until = excluded.paced_until`,
    values: [
      paces.map(({ endpointId }) => endpointId),
      paces.map(({ pacedUntil }) => instant(Math.ceil(pacedUntil))),
    ],
  });
};
