import type { ServerResponse } from 'node:http';
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
