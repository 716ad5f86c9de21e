import { readFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { projectPath } from '#platform/project-path.js';

/** By operation, as in `GET /api/v1/readings`: the body that a running service answered with. */
export type RecordedExamples = Readonly<Record<string, unknown>>;

/** `RECORDED_ANSWERS=write npm run test:all -- test/e2e/recorded-answers` writes it. */
export const EXAMPLES_FILE = projectPath('apps/api/examples/answers.json');

export const readExamples = (): RecordedExamples =>
  JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8')) as RecordedExamples;

/** Gives each successful answer with a JSON body its example. */
export const withExamples = (document: OpenAPIObject, examples: RecordedExamples): OpenAPIObject => {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of ['get', 'post', 'patch', 'delete'] as const) {
      const operation = `${method.toUpperCase()} ${path}`;
      for (const [status, answer] of Object.entries(item[method]?.responses ?? {})) {
        if (!status.startsWith('2') || !answer || '$ref' in answer) continue;
        for (const [mediaType, content] of Object.entries(answer.content ?? {})) {
          if (!mediaType.endsWith('json')) continue;
          content.examples = { recorded: { summary: 'As a service answered', value: examples[operation] } };
        }
      }
    }
  }
  return document;
};
