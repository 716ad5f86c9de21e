/** Progress of a command. */
export interface Progress {
  tell(done: number, total: number): void;
}

export const SILENT: Progress = { tell: () => undefined };

const INTERVAL_MS = 1_000;
/** Steps between two reads of the clock, because a read costs more than a step. */
const STEPS = 4_096;

/** Prints the progress of a command at most once a second. A command that takes less than a second prints none. */
export const progressTo = (
  write: (line: string) => void,
  what: string,
  now: () => number = Date.now,
): Progress => {
  let told = now();
  return {
    tell: (done, total) => {
      if (done % STEPS !== 0 || now() - told < INTERVAL_MS) return;
      told = now();
      write(`${what}: ${String(done)} of ${String(total)}`);
    },
  };
};
