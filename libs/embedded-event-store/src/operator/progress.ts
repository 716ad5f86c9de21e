/** How far a command has come. */
export interface Progress {
  tell(done: number, total: number): void;
}

export const SILENT: Progress = { tell: () => undefined };

const INTERVAL_MS = 1_000;
/** The clock is asked this often only: asking costs more than a step. */
const STEPS = 4_096;

/** Says how far a command has come, at most once a second and never when it takes less. */
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
