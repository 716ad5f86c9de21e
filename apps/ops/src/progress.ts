import type { Progress } from '#billing/contracts/index.js';
import type { RebuildProgress } from '#event-sourcing/projections/rebuild.js';

/** Runs a long read with a progress bar on stderr, if that is a terminal. Output on stdout stays clean either way. */
export const withProgress = async <T>(
  label: string,
  work: (progress?: Progress) => Promise<T>,
): Promise<T> => {
  if (!process.stderr.isTTY) return work();
  // Loaded only for a terminal.
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

/** Steps of the bar of a rebuild. */
const PARTS = 1_000;

/** {@link withProgress} of a rebuild. */
export const withRebuildProgress = <T>(
  label: string,
  work: (report: { readonly onProgress?: RebuildProgress }) => Promise<T>,
): Promise<T> =>
  withProgress(label, (progress) =>
    work(progress ? { onProgress: ({ fraction }) => progress(Math.floor(fraction * PARTS), PARTS) } : {}),
  );
