import { StoreUnavailable } from './errors.js';

/** Callers that may wait for each slot. One more is refused at once. */
const WAITING_PER_SLOT = 50;

/**
 * Limits concurrent reads on one connection. A server accepts 100 calls on a connection and lets further calls wait
 * without a limit.
 */
export class CallSlots {
  private taken = 0;
  private readonly queue = new Set<() => void>();

  /** @param waitMs longest wait for a slot */
  constructor(
    private readonly slots: number,
    private readonly waitMs: number,
  ) {}

  get used(): number {
    return this.taken;
  }

  /** Waiting callers. */
  get waiting(): number {
    return this.queue.size;
  }

  /**
   * Resolves with the function that releases the slot; a second call has no effect.
   * @throws StoreUnavailable when none was free in time
   */
  async take(): Promise<() => void> {
    if (this.taken < this.slots) this.taken += 1;
    else await this.slot();
    let held = true;
    return () => {
      if (held) this.giveBack();
      held = false;
    };
  }

  private slot(): Promise<void> {
    const full = `${this.slots} reads of the event store are under way, and none ended in ${this.waitMs} ms`;
    if (this.queue.size >= this.slots * WAITING_PER_SLOT)
      return Promise.reject(new StoreUnavailable(full, false));
    return new Promise((resolve, reject) => {
      const mine = (): void => {
        clearTimeout(late);
        resolve();
      };
      const late = setTimeout(() => {
        this.queue.delete(mine);
        reject(new StoreUnavailable(full, false));
      }, this.waitMs);
      this.queue.add(mine);
    });
  }

  /** The slot goes to the caller that has waited longest. */
  private giveBack(): void {
    const [next] = this.queue;
    if (!next) {
      this.taken -= 1;
      return;
    }
    this.queue.delete(next);
    next();
  }
}
