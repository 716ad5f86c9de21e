import { LRUCache } from 'lru-cache';

/** An attempt that takes longer (ms) is slow. So is its endpoint, until one of its attempts ends sooner, whatever the outcome. */
export const SLOW_MS = 1_000;
const REMEMBERED_ENDPOINTS = 10_000;

/** Attempts under way at once. */
export interface Limits {
  /** Half of it for endpoints that answer soon, half for slow ones. */
  readonly perProcess: number;
  /** In each mode: test traffic holds up no live one. */
  readonly perWorkspace: number;
  readonly perEndpoint: number;
}

interface Receiving {
  readonly workspaceId: string;
  readonly livemode: boolean;
  readonly endpointId: string;
  /** It has failed lately, by what is stored: taken for slow until this process knows better. */
  readonly isFailing: boolean;
}

/**
 * How many attempts one process has under way: a limit each for itself, for a workspace and for an endpoint. Endpoints that
 * never answer, however many, leave half of the process to the rest.
 *
 * An endpoint that the process does not know gets one attempt first. One that turns out slow leaves its half for the slow one,
 * even if that is full: then nothing more starts there. So hundreds that fall silent together hold up the rest for some seconds.
 */
export class Bulkhead {
  private readonly slots: { prompt: number; slow: number };
  /** By endpoint, and by workspace and mode. */
  private readonly underWay = new Map<string, number>();
  /** Attempts that are slow by now, by endpoint. */
  private readonly overdue = new Map<string, number>();
  private readonly wasSlow = new LRUCache<string, boolean>({ max: REMEMBERED_ENDPOINTS });

  /** @param onSlow called when an attempt has left its slot to others */
  constructor(
    private readonly limits: Limits,
    private readonly onSlow: () => void = () => undefined,
  ) {
    const half = Math.ceil(limits.perProcess / 2);
    this.slots = { prompt: half, slow: half };
  }

  /** Free slots. Of slow ones fewer than none, when many attempts turned out slow. */
  get free(): Readonly<typeof this.slots> {
    return this.slots;
  }

  /** Endpoints that have as many attempts as they may, and workspaces that have more. */
  get full(): readonly string[] {
    return [...this.underWay].flatMap(([id, count]) => (count >= this.limits.perEndpoint ? [id] : []));
  }

  /** Attempts under way at an endpoint, or of a workspace in a mode. */
  at(id: string): number {
    return this.underWay.get(id) ?? 0;
  }

  isSlow({ endpointId, isFailing }: Receiving): boolean {
    return this.overdue.has(endpointId) || (this.wasSlow.get(endpointId) ?? isFailing);
  }

  /** May an attempt start? */
  allows(one: Receiving): boolean {
    const { perWorkspace, perEndpoint } = this.limits;
    const isKnown = one.isFailing || this.wasSlow.has(one.endpointId);
    return (
      this.at(shareOf(one)) < perWorkspace &&
      this.at(one.endpointId) < (isKnown ? perEndpoint : 1) &&
      this.slots[this.isSlow(one) ? 'slow' : 'prompt'] > 0
    );
  }

  /** An attempt starts. @returns what to call when it ends; calling it again changes nothing */
  start(one: Receiving): () => void {
    const { endpointId } = one;
    const share = shareOf(one);
    let pool: 'prompt' | 'slow' = this.isSlow(one) ? 'slow' : 'prompt';
    let isOverdue = false;
    let hasEnded = false;
    this.slots[pool] -= 1;
    add(this.underWay, share, 1);
    add(this.underWay, endpointId, 1);
    const timer = setTimeout(() => {
      this.slots[pool] += 1;
      pool = 'slow';
      this.slots.slow -= 1;
      isOverdue = true;
      add(this.overdue, endpointId, 1);
      this.onSlow();
    }, SLOW_MS).unref();
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      this.slots[pool] += 1;
      add(this.underWay, share, -1);
      add(this.underWay, endpointId, -1);
      if (isOverdue) add(this.overdue, endpointId, -1);
      this.wasSlow.set(endpointId, isOverdue);
    };
  }
}

const shareOf = ({ workspaceId, livemode }: Receiving): string => `${workspaceId} ${livemode}`;

const add = (counts: Map<string, number>, id: string, change: 1 | -1): void => {
  const count = (counts.get(id) ?? 0) + change;
  if (count === 0) counts.delete(id);
  else counts.set(id, count);
};
