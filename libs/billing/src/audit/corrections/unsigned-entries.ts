import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { CompensatedEntry, CorrectionFinding } from '../../contracts/audited-corrections.js';

/** What counts of an entry `CreditsAdjusted`. Credits are signed. */
interface Adjustment {
  readonly amount: number;
  readonly reversesEventId: string | null;
  readonly correctionId?: string | undefined;
}

/** An unsigned entry, and all entries that reverse it, each other's reversals among them. */
interface Group {
  /** Credits since the first open entry. */
  sum: number;
  /** Unsigned entries that no signed correction has compensated. */
  open: CorrectionFinding[];
}

/**
 * Entries that no two operators signed, and the signed corrections that take them back. An entry is compensated by a
 * later signed correction that reverses it, once all of it is taken back.
 */
export class UnsignedEntries {
  /** By stream and event id of each entry of the group. */
  private readonly groups = new Map<string, Group>();
  private readonly compensated = new Map<CorrectionFinding, string>();

  addUnsigned(stored: StoredEvent, entry: Adjustment, finding: CorrectionFinding): void {
    const group = this.join(stored, entry) ?? this.begin(stored);
    group.open.push(finding);
    group.sum += entry.amount;
  }

  addSigned(stored: StoredEvent, entry: Adjustment): void {
    const group = this.join(stored, entry);
    if (!group || group.open.length === 0) return;
    group.sum += entry.amount;
    if (group.sum !== 0) return;
    for (const finding of group.open) this.compensated.set(finding, entry.correctionId!);
    group.open = [];
  }

  /** Divides findings into those that remain, and those that are compensated. Both keep their order. */
  divide(findings: readonly CorrectionFinding[]): {
    readonly findings: readonly CorrectionFinding[];
    readonly compensated: readonly CompensatedEntry[];
  } {
    return {
      findings: findings.filter((finding) => !this.compensated.has(finding)),
      compensated: findings.flatMap((finding) => {
        const compensatedBy = this.compensated.get(finding);
        return compensatedBy === undefined ? [] : [{ ...finding, compensatedBy }];
      }),
    };
  }

  /** The group of the entry or of the one that it reverses. A forger may repeat an id. */
  private join({ stream, id }: StoredEvent, { reversesEventId }: Adjustment): Group | undefined {
    const key = `${stream} ${id}`;
    const group = this.groups.get(key) ?? this.groups.get(`${stream} ${reversesEventId}`);
    if (group) this.groups.set(key, group);
    return group;
  }

  private begin({ stream, id }: StoredEvent): Group {
    const group: Group = { sum: 0, open: [] };
    this.groups.set(`${stream} ${id}`, group);
    return group;
  }
}
