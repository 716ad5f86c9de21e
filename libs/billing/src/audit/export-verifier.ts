import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CorruptEvent, decode } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, nextChain } from '@app/event-sourcing/core/hash-chain.js';
import type { ExportFinding, ExportReport, LedgerFooter } from '../contracts/export.js';
import {
  ACCOUNTS,
  creditsEvents,
  type Accounts,
  type CreditsEvent,
  type Totals,
} from '../contracts/events.js';
import { monthAfter } from '../domain/credits/calendar.js';
import { balances, emptyTotals, post, postings } from '../domain/credits/postings.js';
import { closes, startsWhole } from './book-start.js';
import {
  eventLine,
  firstDifference,
  headerLine,
  memberOf,
  passedOverEvent,
  passedOverWrongly,
  storedEvent,
  textFault,
  unlikeFacts,
  unreadableLine,
  type ExportStart,
} from './export-lines.js';
import { jsonLines, postingRows } from './export-rows.js';
import { sentenceOf } from './unreadable-entry.js';
import { BookVerifier } from './verify-book.js';

/**
 * Verifies an export with the service's own code: it decodes the facts, checks the book as `ledger verify` does, and
 * writes the export again. Each line must be exactly what it writes.
 *
 * `tools/verify-ledger.mjs` verifies the same from the file alone, without this code. Both must agree.
 */
export class ExportVerifier {
  private readonly findings: ExportFinding[] = [];
  private number = 0;
  private given: ExportStart | null = null;
  private book: BookVerifier | null = null;
  private totals: Totals = emptyTotals;
  private counts = { events: 0, postings: 0 };
  private unreadable = 0;
  private readonly unreadableHash = createHash('sha256');
  private readonly quarantined: string[] = [];
  private head: { revision: string | null; hash: string } = { revision: null, hash: CHAIN_START };
  /** An export that starts in the middle of a month does not know the grants. */
  private knowsGrants = false;
  /** Lines that must come next. */
  private expected: string[] = [];
  private isTrusted = true;
  private hasFooter = false;
  private monthEnded = false;

  /** @returns false when the rest cannot be read */
  line(text: string): boolean {
    this.number += 1;
    let value: unknown;
    try {
      value = JSON.parse(text.replace(/^\uFEFF/, ''));
    } catch {
      this.find('kind', 'the line is not JSON, or blank');
      return this.given !== null;
    }
    if (!this.given) return this.begin(value, text);
    if (this.hasFooter) this.find('kind', 'the line stands after the footer');
    else this.read(value as { kind?: unknown } | null, text);
    return true;
  }

  report(): ExportReport {
    if (this.number === 0) this.find('kind', 'this is no ledger export: the file is empty');
    if (this.given && !this.hasFooter) {
      this.number += 1;
      this.find('kind', 'the export ends without its footer');
    }
    const { events } = this.counts;
    return {
      ok: this.findings.length === 0,
      workspaceId: this.given?.workspaceId ?? null,
      events,
      headHash: this.head.hash,
      findings: this.findings,
      quarantined: this.quarantined,
    };
  }

  /** Ends with a fault of the text after the last line. */
  broken(message: string): ExportReport {
    this.find('text', message);
    return this.report();
  }

  private begin(value: unknown, text: string): boolean {
    const parsed = headerLine.safeParse(value);
    if (!parsed.success) {
      const field = z.object({ kind: z.literal('header') }).safeParse(value).success
        ? memberOf(parsed.error.issues[0]!)
        : 'kind';
      this.find(field, 'this is no header of a ledger export');
      return false;
    }
    const { kind: _, format, ...rest } = parsed.data;
    const opening = Object.fromEntries(ACCOUNTS.map((name) => [name, rest.opening[name]])) as Accounts;
    const isWhole = rest.firstRevision === '0';
    const clean = { ...rest, period: rest.period ?? null, opening };
    if (!this.compare(text, jsonLines(format).header(clean))) return false;
    if (rest.stream !== `credits-${rest.workspaceId}`)
      return this.refuse('workspaceId', 'the workspace is not the one of the stream');
    if (ACCOUNTS.reduce((total, name) => total + opening[name], 0) !== 0)
      return this.refuse('opening', 'the accounts do not sum to zero');
    if (isWhole && ACCOUNTS.some((name) => opening[name] !== 0))
      return this.refuse('opening', 'a book begins with nothing');
    if (isWhole && rest.previousChain !== CHAIN_START)
      return this.refuse('previousChain', 'a chain begins with 64 zeros');
    this.given = parsed.data;
    this.head = { revision: null, hash: rest.previousChain };
    // The lines have no record times, so that no bound matters.
    this.book = new BookVerifier(rest.stream, Infinity, isWhole ? undefined : partStart(rest));
    return true;
  }

  private read(value: { kind?: unknown } | null, text: string): void {
    const next = this.expected.shift();
    if (value?.kind === 'posting') {
      this.counts.postings += 1;
      if (!this.isTrusted) return;
      if (next === undefined) this.find('kind', 'the event has no such posting');
      else this.compare(text, next);
      return;
    }
    if (next !== undefined && this.isTrusted) this.find('kind', 'postings of the event before are missing');
    this.expected = [];
    if (value?.kind === 'event') this.event(value, text);
    else if (value?.kind === 'unreadable') this.opaque(value, text);
    else if (value?.kind === 'footer') this.end(text);
    else this.find('kind', 'the line is neither event, unreadable, posting nor footer');
  }

  private event(value: unknown, text: string): void {
    const parsed = eventLine.safeParse(value);
    if (!parsed.success) {
      this.isTrusted = false;
      this.find(memberOf(parsed.error.issues[0]!), 'the event has not the members of an event');
      return;
    }
    const stored = storedEvent(parsed.data);
    if (this.head.revision === null && this.given!.firstRevision === null)
      this.find('facts.revision', 'the header says that there is no event');
    if (stored.stream !== this.given!.stream) this.find('facts.stream', 'the event is of another stream');
    this.counts.events += 1;
    this.head = { revision: String(stored.revision), hash: stored.metadata.chain ?? '' };
    this.book!.see(stored);
    this.takeFindings();
    if (!this.isTrusted) return;
    try {
      this.expect(stored, text);
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error;
      this.isTrusted = false;
    }
  }

  /** An entry that moves nothing. The chain goes through it if it has facts, and past it if not. */
  private opaque(value: unknown, text: string): void {
    const parsed = unreadableLine.safeParse(value);
    if (!parsed.success) {
      this.isTrusted = false;
      this.find(memberOf(parsed.error.issues[0]!), 'the entry has not the members of an entry');
      return;
    }
    const { stream, firstRevision } = this.given!;
    const { kind: _, facts, chain, revision, ...entry } = parsed.data;
    if (this.head.revision === null && firstRevision === null)
      this.find('revision', 'the header says that there is no event');
    if (this.monthEnded) this.find('kind', 'the entry is not of the month, which was closed before');
    const unlike = unlikeFacts(parsed.data, stream);
    if (unlike) this.find(unlike, 'the facts are those of another entry');
    if (chain !== (facts ? nextChain(this.head.hash, facts) : this.head.hash))
      this.find('chain', 'the chain value does not fit the entry');
    this.head = { revision, hash: chain };
    this.book!.see(passedOverEvent(parsed.data, stream));
    this.takeFindings();
    this.unreadable += 1;
    this.unreadableHash.update(`${text}\n`);
    const shown = { ...entry, stream, revision: BigInt(revision) };
    this.compare(text, jsonLines().unreadable(shown, facts, chain));
    const sentence = `revision ${revision} (${entry.type}) ${sentenceOf(shown)}`;
    if (entry.quarantine) {
      const wrong = passedOverWrongly(parsed.data);
      if (wrong) this.find('problem', wrong);
      this.quarantined.push(sentence);
      return;
    }
    this.isTrusted = false;
    this.find('problem', sentence);
  }

  private expect(stored: StoredEvent, text: string): void {
    const event = decode(creditsEvents, stored);
    this.checkPeriod(event);
    const moved = postings(event);
    this.totals = post(this.totals, moved);
    if (this.counts.events === 1) this.knowsGrants = startsWhole(event);
    const rows = postingRows(event, moved, balances(this.given!.opening, this.totals));
    const [own, ...others] = jsonLines(this.given!.format)
      .event(event, chainedFacts(stored), rows)
      .trimEnd()
      .split('\n');
    this.compare(text, own!);
    this.expected = others;
  }

  private checkPeriod(event: CreditsEvent): void {
    const period = this.given!.period ?? null;
    if (period === null) return;
    if (this.monthEnded) this.find('facts.type', `the event is not of ${period}, which was closed before`);
    this.monthEnded = event.type === 'PeriodClosed' && event.data.period === period;
    if (this.counts.events > 1) return;
    const starts =
      event.type === 'BookOpened'
        ? event.data.period === period
        : closes(event) && monthAfter(event.data.period) === period;
    if (!starts) this.find('facts.type', `the export of ${period} does not start with that month`);
  }

  private end(text: string): void {
    this.hasFooter = true;
    if (!this.isTrusted) return;
    const { totals, counts, head } = this;
    const footer: LedgerFooter = {
      ...counts,
      unreadable:
        this.unreadable === 0
          ? null
          : { entries: this.unreadable, sha256: this.unreadableHash.digest('hex') },
      totals,
      closing: balances(this.given!.opening, totals),
      headRevision: head.revision,
      headHash: head.hash,
      period: this.given!.period ?? null,
      money: this.knowsGrants ? this.book!.allMoney() : null,
    };
    this.compare(text, jsonLines(this.given!.format).footer(footer));
  }

  /**
   * Findings of the book at this line. After one, what follows from the facts is no longer compared. An export has no
   * record times, so none is a wrong date.
   */
  private takeFindings(): void {
    for (const { check, message } of this.book!.takeNewFindings()) {
      this.find(FIELDS[check], message);
      if (check !== 'chain' && check !== 'revision') this.isTrusted = false;
    }
  }

  private compare(text: string, written: string): boolean {
    const right = written.replace(/\n$/, '');
    if (text === right) return true;
    const field = textFault(text) ?? firstDifference(text, right);
    this.find(field, `the line is not what the service writes: ${field}`);
    return false;
  }

  private refuse(field: string, message: string): false {
    this.find(field, message);
    return false;
  }

  private find(field: string, message: string): void {
    this.findings.push({ line: this.number, field, message });
  }
}

const FIELDS = {
  revision: 'facts.revision',
  chain: 'chain',
  event: 'facts.data',
  clock: 'facts.occurredAt',
  quarantine: 'quarantine',
  date: 'facts.occurredAt',
  invariant: 'facts.data',
  snapshot: 'facts.data',
} as const;

const partStart = ({
  firstRevision,
  previousChain,
}: Pick<ExportStart, 'firstRevision' | 'previousChain'>) => ({
  revision: BigInt(firstRevision ?? 0),
  chain: previousChain,
});
