import { afterEach, expect, it, jest } from '@jest/globals';
import { eventfulBook, exportOf } from '../../test/book.js';
import { ExportVerifier } from './export-verifier.js';
import { BookVerifier } from './verify-book.js';

afterEach(() => {
  jest.restoreAllMocks();
});

it('names at each line what was found there, also when revisions go back, without a report for each line', async () => {
  const { events } = await eventfulBook();
  const lines = (await exportOf(events)).trimEnd().split('\n');
  const revisionOf = (line: string): string | undefined =>
    (JSON.parse(line) as { facts?: { revision: string } }).facts?.revision;
  const [fifth, seventh] = ['5', '7'].map((revision) =>
    lines.findIndex((line) => revisionOf(line) === revision),
  );
  const report = jest.spyOn(BookVerifier.prototype, 'report');
  const verifier = new ExportVerifier();
  // Event 5 a second time, in front of event 7.
  for (const line of lines.toSpliced(seventh!, 0, lines[fifth!]!)) verifier.line(line);
  const found = verifier.report().findings.filter(({ field }) => field === 'facts.revision');
  expect(found).toMatchObject([
    { line: seventh! + 1, message: 'revision 5 stands where this one belongs' },
    { line: seventh! + 2, message: 'revision 7 stands where this one belongs' },
  ]);
  expect(report).not.toHaveBeenCalled();
});
