import type { IncomingMessage } from 'node:http';
import type { Problem } from '../problem.js';

const ADMISSION = Symbol('admission');

/** What the door knows of a request that it let in. */
export interface Admission {
  /** One form for all spellings of the caller's address; of IPv6 its /64. */
  readonly address: string;
  /** Counts the request on its address, unless it was counted at the door. @returns the refusal when there are too many */
  charge(): Problem | null;
  /** Gives the answer later, unless the caller leaves before: who is refused again and again waits a little each time. */
  holdBack(answer: () => void): void;
  /** Notes the answer (JSON) to a probe, which is given again to whoever asks too often. */
  remember(status: number, body: string): void;
}

export const setAdmission = (request: IncomingMessage, admission: Admission): void => {
  (request as { [ADMISSION]?: Admission })[ADMISSION] = admission;
};

/** Undefined where there is no door, as in tests of a single module. */
export const admissionOf = (request: IncomingMessage): Admission | undefined =>
  (request as { [ADMISSION]?: Admission })[ADMISSION];
