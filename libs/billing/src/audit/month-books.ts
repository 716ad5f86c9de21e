import type { KeyObject } from 'node:crypto';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { CompensatedEntry } from '../contracts/corrections.js';
import type { MonthBook, MonthNote, MonthProblem } from '../contracts/month.js';
import { byPosition } from './ledger-difference.js';
import { allowsSeal, sealOf } from './seal.js';
import type { VerifiedBook } from './verified-books.js';

/**
 * Seals the month of each verified book, and says why others have no seal. A book that was opened after the month is
 * neither. The order of the books given makes no difference. `notes`: what each seal covers and does not prevent it.
 */
export const monthOfBooks = (
  period: string,
  verified: readonly VerifiedBook[],
  compensated: readonly CompensatedEntry[],
  key: KeyObject,
): {
  books: readonly MonthBook[];
  problems: readonly MonthProblem[];
  notes: readonly MonthNote[];
} => {
  const notes: MonthNote[] = [];
  const unsigned = compensated.map(noteOf);
  const problems: MonthProblem[] = [];
  const books: MonthBook[] = [];
  for (const { report, opened, month } of verified.toSorted(byPosition)) {
    const { workspaceId } = report;
    const finding = report.findings.find((one) => !allowsSeal(one));
    if (finding) {
      const { revision, message } = finding;
      problems.push({ workspaceId, revision, message: `does not verify: ${message}` });
    } else if (month) {
      const { closed, money, items } = month;
      const { opening, totals } = closed.data;
      books.push({ seal: sealOf(closed, money, key), opening, totals, items });
      const own = unsigned.filter((note) => note.workspaceId === workspaceId);
      for (const { revision, message } of [...report.findings, ...own])
        if (revision <= closed.revision) notes.push({ workspaceId, revision, message });
    } else if (opened <= period)
      problems.push({ workspaceId, revision: null, message: `the month ${period} is not closed` });
  }
  const byWorkspace = (a: MonthBook, b: MonthBook): number =>
    a.seal.workspaceId < b.seal.workspaceId ? -1 : 1;
  return { books: books.sort(byWorkspace), problems, notes };
};

const noteOf = ({ stream, revision, message, compensatedBy }: CompensatedEntry): MonthNote => ({
  workspaceId: streamId(stream),
  revision,
  message: `${message}; compensated by ${compensatedBy}`,
});
