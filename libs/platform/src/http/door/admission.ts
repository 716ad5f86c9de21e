import type { IncomingMessage } from 'node:http';
import type { Problem } from '../problem.js';

const ADMISSION = Symbol('admission');

/** The door's record of a request that it admitted. */
export interface Admission {
  /** The canonical form of the caller's address; for IPv6, its /64. */
  readonly address: string;
  /** Counts the request on its address, unless the door has counted it. @returns the refusal when there are too many */
  charge(): Problem | null;
  /** Delays the answer, unless the caller disconnects first: repeated refusals each cost the caller a short wait. */
  holdBack(answer: () => void): void;
  /** Stores the answer (JSON) to a probe, to repeat it to callers that ask too often. */
  remember(status: number, body: string): void;
}

export const setAdmission = (request: IncomingMessage, admission: Admission): void => {
  (request as { [ADMISSION]?: Admission })[ADMISSION] = admission;
};

/** Undefined without a door, as in tests of a single module. */
export const admissionOf = (request: IncomingMessage): Admission | undefined =>
  (request as { [ADMISSION]?: Admission })[ADMISSION];
