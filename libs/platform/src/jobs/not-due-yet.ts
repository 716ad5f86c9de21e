/** The queue ran a job before its time, because PostgreSQL's clock is, or was, ahead. The job waits for the rest. */
export class NotDueYet extends Error {
  override readonly name = 'NotDueYet';
  constructor(readonly remainingMs: number) {
    super(`due in ${remainingMs} ms`);
  }
}
