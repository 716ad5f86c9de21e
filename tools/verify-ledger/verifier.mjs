import { Buffer } from 'node:buffer';
import { verify } from 'node:crypto';
import { Book, Fault } from './book.mjs';
import { canonical, perAccount, same, sha256 } from './values.mjs';

/** Reads the lines of an export in order and collects what is wrong with them. */
export class Verifier {
  findings = [];
  events = 0;
  unreadable = 0;
  /** Entries that an operator has readers pass over, in one sentence each. */
  quarantined = [];
  postings = 0;
  /** Rows still to come for the last event. */
  expected = [];
  closedMonths = new Map();

  find(revision, sentence) {
    this.findings.push({ revision: String(revision), message: sentence });
  }

  line(text, number) {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      return this.find(this.next ?? 0n, `line ${number} is not JSON`);
    }
    if (this.footer) return this.find(this.next, `line ${number} stands after the footer`);
    if (value?.kind === 'header' && !this.header) return this.begin(value);
    if (!this.header)
      throw new Error('This is no ledger export: make one with ops ledger export --format jsonl.');
    try {
      this.read(value);
    } catch {
      this.find(this.next, `line ${number} is malformed`);
    }
  }

  read(value) {
    if (value.kind === 'event') this.event(value);
    else if (value.kind === 'unreadable') this.opaque(value);
    else if (value.kind === 'posting') this.posting(value);
    else if (value.kind === 'footer') this.end(value);
    else throw new Fault('unknown kind');
  }

  begin(header) {
    if (header.format !== 'credit-ledger-export/1') throw new Error(`Unknown format ${header.format}.`);
    this.header = header;
    this.next = BigInt(header.firstRevision ?? 0);
    this.chain = header.previousChain;
    const whole = this.next === 0n;
    if (
      whole &&
      !same(
        header.opening,
        perAccount(() => 0),
      )
    )
      this.find(0, 'a book begins with nothing');
    if (whole && header.firstRevision !== null && !/^0{64}$/.test(this.chain)) {
      this.find(0, 'a chain begins with 64 zeros');
    }
    this.book = new Book(header.opening, whole);
    this.trusted = true;
  }

  event({ facts, chain }) {
    this.allPosted();
    const revision = BigInt(facts.revision);
    if (revision !== this.next) this.find(this.next, `revision ${revision} stands where this one belongs`);
    if (facts.stream !== this.header.stream) this.find(revision, 'the event is of another stream');
    if (chain !== sha256(this.chain, canonical(facts)))
      this.find(revision, 'the chain value does not fit the event');
    this.chain = String(chain);
    this.next = revision + 1n;
    this.events += 1;
    if (facts.type === 'PeriodClosed') this.closedMonths.set(facts.data?.period, { facts, chain });
    if (!this.trusted) return;
    try {
      const postings = this.book.see(facts, revision === 0n);
      this.expected = postings.map(({ account, amount }, index) => ({
        revision: facts.revision,
        line: index + 1,
        account,
        debit: Math.max(0, -amount),
        credit: Math.max(0, amount),
        availableAfter: this.book.accounts.available,
        heldAfter: this.book.accounts.held,
      }));
    } catch (error) {
      // What follows from a fault would hide it: from here on only revisions and chain are checked.
      this.trusted = false;
      this.find(revision, error instanceof Fault ? error.message : 'the event cannot be read');
    }
  }

  /** An entry that moves nothing. The chain goes through it if it has facts, and past it if not. */
  opaque({ revision, type, problem, quarantine, facts, chain }) {
    this.allPosted();
    const at = BigInt(revision);
    if (at !== this.next) this.find(this.next, `revision ${at} stands where this one belongs`);
    const fits = facts
      ? chain === sha256(this.chain, canonical(facts)) && facts.revision === revision && facts.type === type
      : chain === this.chain;
    if (!fits) this.find(at, 'the chain value does not fit the entry');
    this.chain = String(chain);
    this.next = at + 1n;
    this.unreadable += 1;
    if (quarantine) {
      this.quarantined.push(`revision ${revision} (${type}): ${quarantine.by}: ${quarantine.reason}`);
      return;
    }
    this.trusted = false;
    this.find(at, `the entry ${type} cannot be read: ${problem}`);
  }

  /** `grantId` is there for readers; grants are checked from the facts. */
  posting(row) {
    this.postings += 1;
    if (!this.trusted) return;
    const expected = this.expected.shift();
    const matches = expected && Object.keys(expected).every((name) => same(row[name], expected[name]));
    if (!matches) this.find(row.revision, 'a posting row does not follow from its event');
  }

  allPosted() {
    if (this.trusted && this.expected.length > 0)
      this.find(this.next - 1n, 'posting rows of the event are missing');
    this.expected = [];
  }

  end(footer) {
    this.allPosted();
    this.footer = footer;
    const last = this.events + this.unreadable === 0 ? null : String(this.next - 1n);
    const demandEnd = (right, sentence) => right || this.find(last ?? 0, sentence);
    demandEnd(footer.events === this.events, 'the footer counts other events');
    // Exports of older versions have no such entries, and do not count them.
    demandEnd((footer.unreadable ?? 0) === this.unreadable, 'the footer counts other unreadable entries');
    demandEnd(footer.postings === this.postings, 'the footer counts other postings');
    demandEnd(footer.headRevision === last, 'the footer names another last revision');
    demandEnd(footer.headHash === this.chain, 'the footer names another head hash');
    if (!this.trusted) return;
    demandEnd(same(footer.totals, this.book.totals), 'the footer’s totals are not the turnover');
    demandEnd(same(footer.closing, this.book.accounts), 'the footer’s closing balances are not the accounts');
  }

  /** The signature must be the key's, and the month it seals must stand in the export as it was sealed. */
  seal({ signature, ...manifest }, publicKey) {
    const at = manifest.revision;
    const der = publicKey.export({ type: 'spki', format: 'der' });
    const signed = verify(
      null,
      Buffer.from(canonical(manifest)),
      publicKey,
      Buffer.from(String(signature), 'base64'),
    );
    if (!signed) this.find(at, 'the seal is not signed with this key');
    if (manifest.publicKeySha256 !== sha256(der)) this.find(at, 'the seal names another key');
    if (manifest.workspaceId !== this.header.workspaceId) this.find(at, 'the seal is of another workspace');
    const closed = this.closedMonths.get(manifest.period);
    if (!closed) return this.find(at, `the sealed month ${manifest.period} is not closed in the export`);
    const { facts, chain } = closed;
    if (chain !== manifest.headHash) this.find(at, 'the sealed head hash is another: history was rewritten');
    if (facts.revision !== at) this.find(at, 'the month was closed at another revision');
    if (facts.eventId !== manifest.eventId) this.find(at, 'the month was closed by another event');
    if (!same(facts.data.closing, manifest.closing)) this.find(at, 'the sealed closing balances are others');
  }

  /** @throws Error when the file is no export */
  result(sealed) {
    if (!this.header) throw new Error('This is no ledger export: the file is empty.');
    if (!this.footer) this.find(this.next, 'the export ends without its footer');
    const revisions = this.findings.map(({ revision }) => BigInt(revision));
    const firstBad = revisions.reduce((first, one) => (first === null || one < first ? one : first), null);
    return {
      ok: this.findings.length === 0,
      workspaceId: this.header.workspaceId,
      events: this.events,
      postings: this.postings,
      firstRevision: this.header.firstRevision,
      headRevision: this.events + this.unreadable === 0 ? null : String(this.next - 1n),
      headHash: this.chain,
      balances: this.trusted ? this.book.accounts : null,
      sealedPeriod: sealed?.period ?? null,
      firstBadRevision: firstBad === null ? null : String(firstBad),
      quarantined: this.quarantined,
      findings: this.findings,
    };
  }
}
