import type { IncomingMessage, ServerResponse } from 'node:http';
import { admissionOf } from './door/admission.js';
import { helpOf, problemBody, type Problem } from './problem.js';

/** Writes a problem as the answer, replacing any answer already started. */
export const sendProblem = (response: ServerResponse, problem: Problem, requestId: string): void => {
  for (const [name, value] of Object.entries(problem.options.headers ?? {})) response.setHeader(name, value);
  response.statusCode = problem.status;
  response.setHeader('Content-Type', 'application/problem+json');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Link', helpOf(problem));
  response.end(JSON.stringify(problemBody(problem, requestId)));
};

/** Answers with a problem, delayed where required. */
export const refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  requestId: string,
): void => {
  const admission = problem.options.isHeldBack ? admissionOf(request) : undefined;
  const answer = (): void => sendProblem(response, problem, requestId);
  if (!admission) return answer();
  // Recorded even if the caller does not wait.
  response.statusCode = problem.status;
  admission.holdBack(answer);
};
