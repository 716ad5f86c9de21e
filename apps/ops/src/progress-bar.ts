/** Loaded only for a terminal. */
export { SingleBar } from 'cli-progress';
