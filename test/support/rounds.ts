const { SOAK, SOAK_COUNT, SOAK_SEED } = process.env;

/** Whether this is the long form, which `npm run test:soak` runs. */
export const isSoak = SOAK === '1';

/**
 * How often a spec that repeats with chance does so: a few times in CI, often in the long form.
 * `SOAK_COUNT=N SOAK_SEED=N npm run test:soak -- <name>` gives both.
 */
export const rounds = (short: number, long: number): number =>
  SOAK_COUNT === undefined ? (isSoak ? long : short) : Number(SOAK_COUNT);

/** The seed of a spec's random numbers: this one, or that of `SOAK_SEED`. */
export const seedOr = (usual: number): number => (SOAK_SEED === undefined ? usual : Number(SOAK_SEED));

/** The command that repeats a run: it belongs into what a failure shows. */
export const again = (spec: string, count: number, seed: number): string =>
  `SOAK_COUNT=${count} SOAK_SEED=${seed} npm run test:soak -- ${spec}`;
