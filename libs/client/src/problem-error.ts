import type { Problem } from './api.js';

/** The service's problem document. The code is `http_…` when a gateway responded instead of the service. */
export type AnyProblem = Omit<Problem, 'code'> & { readonly code: Problem['code'] | `http_${number}` };

/** The service refused a request or could not process it now (RFC 9457). `docs/errors.md` explains each code. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(
    readonly problem: AnyProblem,
    /** Seconds after which to retry, if the service gave them. */
    readonly retryAfterSeconds: number | null,
    /** The page of the service that explains the code, if the answer had a link to it. */
    readonly help: string | null = null,
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

  /** Quote it when you contact the operator of the service. */
  get requestId(): string {
    return this.problem.requestId;
  }
}

/** No attempt got a whole response: none came, or it was cut off. The outcome of the call is unknown. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable';
}

/** A reading did not end within the timeout of `waitUntilDone`. It continues, and you can wait for it again. */
export class StillUnderWay extends Error {
  override readonly name = 'StillUnderWay';
}

/**
 * The target of the link with `rel="help"` (RFC 8288), as the service writes it; `null` for anything else.
 * @param from the URL of the answer
 */
export const helpOf = (link: string | null, from: string): string | null => {
  const [, target] = /<([^>]*)>; *rel="?help"?/.exec(link ?? '') ?? [];
  return target !== undefined && URL.canParse(target, from) ? new URL(target, from).href : null;
};
