import type { Progress } from '#billing/contracts/index.js';

/** Runs a long read with a progress bar on stderr, if that is a terminal. Output on stdout stays clean either way. */
export const withProgress = async <T>(
  label: string,
  work: (progress?: Progress) => Promise<T>,
): Promise<T> => {
  if (!process.stderr.isTTY) return work();
  const { SingleBar } = await import('./progress-bar.js');
  const bar = new SingleBar({
    format: `${label} {bar} {percentage}% {eta_formatted}`,
    clearOnComplete: true,
  });
  bar.start(1, 0);
  try {
    return await work((done, total) => {
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
};
