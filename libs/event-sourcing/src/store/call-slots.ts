import { StoreUnavailable } from './errors.js';

/** Callers that may wait for each slot there is; one more is refused at once. */
const WAITING_PER_SLOT = 50;

/**
 * Bounds the reads under way on one connection: a server takes 100 calls on it, and whoever asks for one more would
 * wait without end.
 */
export class CallSlots {
  private taken = 0;
  private readonly queue = new Set<() => void>();

  /** @param waitMs longest wait for a slot */
  constructor(
    private readonly slots: number,
    private readonly waitMs: number,
  ) {}

  /** Callers that wait. */
  get waiting(): number {
    return this.queue.size;
  }

  /**
   * Resolves with the function that gives the slot back; calling it twice does no harm.
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

  /** The slot goes to who waits longest. */
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
