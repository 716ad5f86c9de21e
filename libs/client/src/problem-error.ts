import type { Problem } from './api.js';

/** What the service says of a refusal; `http_…` where a gateway on the way answered in its place. */
export type AnyProblem = Omit<Problem, 'code'> & { readonly code: Problem['code'] | `http_${number}` };

/** The service refused a request, or could not do it now (RFC 9457). `docs/errors.md` tells of each code. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly problem: AnyProblem,
    /** Seconds after which to try again, where the service said so. */
    readonly retryAfterSeconds: number | null,
  ) {
    const fields = (problem.errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ');
    super(
      `${problem.code} (${problem.status}): ${[problem.detail ?? problem.title, fields].filter(Boolean).join(': ')}`,
    );
  }

  get code(): AnyProblem['code'] {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }

  /** To be quoted to whoever operates the service. */
  get requestId(): string {
    return this.problem.requestId;
  }
}

/** No answer came, however often it was asked for. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable';
}

/** A reading did not end in the time that `waitUntilDone` was given. It goes on, and can be waited for again. */
export class StillUnderWay extends Error {
  override readonly name = 'StillUnderWay';
}
