import { StoreUnavailable } from '../store/errors.js';
import { InMemoryEventStore } from './in-memory-event-store.js';

/** A store that commits an append and then, while it is `silent`, gives no answer to it or to its repeats. */
export class UnansweredAppends extends InMemoryEventStore {
  silent = false;
  private commits = true;

  /** Runs a request whose one append is committed without an answer. */
  async without<T>(request: () => Promise<T>): Promise<T> {
    [this.silent, this.commits] = [true, true];
    try {
      return await request();
    } finally {
      this.silent = false;
    }
  }

  override async append(...args: Parameters<InMemoryEventStore['append']>) {
    if (!this.silent) return super.append(...args);
    if (this.commits) {
      this.commits = false;
      await super.append(...args);
    }
    throw new StoreUnavailable('no answer', true);
  }
}
