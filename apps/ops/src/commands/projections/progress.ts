import type { RebuildProgress } from '#event-sourcing/rebuilding/rebuild.js';

/** Steps of the progress bar. */
const PARTS = 1_000;

/** Runs a rebuild with a progress bar on stderr, if that is a terminal. The bar shows the rate and the time left. */
export const withRebuildProgress = async <T>(
  label: string,
  work: (progress?: RebuildProgress) => Promise<T>,
): Promise<T> => {
  if (!process.stderr.isTTY) return work();
  const { SingleBar } = await import('../../progress-bar.js');
  const bar = new SingleBar({
    format: `${label} {bar} {percentage}% {events} events {rate}/s {left} left`,
    clearOnComplete: true,
  });
  const startedAt = performance.now();
  bar.start(PARTS, 0, { events: 0, rate: 0, left: '…' });
  try {
    return await work(({ events, fraction }) => {
      const seconds = (performance.now() - startedAt) / 1_000;
      const left = fraction > 0 ? (seconds / fraction) * (1 - fraction) : 0;
      bar.update(Math.floor(fraction * PARTS), {
        events,
        rate: Math.round(events / seconds),
        left: duration(left),
      });
    });
  } finally {
    bar.stop();
  }
};

/** `75` becomes `1m15s`. */
export const duration = (seconds: number): string => {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${whole >= 60 ? `${minutes}m` : ''}${whole % 60}s`;
};
