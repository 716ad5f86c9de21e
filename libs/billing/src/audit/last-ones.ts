/** Least number of entries that are remembered. */
const REMEMBERED = 65_536;

/** Remembers the last entries only, so that memory use does not grow with the book. */
export class LastOnes<T> {
  private older = new Map<string, T>();
  private newer = new Map<string, T>();
  /** Whether some are remembered no more. */
  hasForgotten = false;

  get(id: string): T | undefined {
    return this.newer.get(id) ?? this.older.get(id);
  }

  set(id: string, value: T): void {
    if (this.newer.size === REMEMBERED) {
      this.hasForgotten ||= this.older.size > 0;
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(id, value);
  }
}
