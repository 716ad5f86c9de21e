import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { valueOf } from '../domain/credits/reversals.js';
import {
  corrected,
  movedBy,
  sharesValue,
  valueHeld,
  type ReversedValue,
} from '../domain/credits/reversed-value.js';
import type { UsedCredits } from '../domain/credits/value.js';
import { LastOnes } from './last-ones.js';

/** Follows the value that entries of a book move, and checks what their reversals say of it. */
export class Reversals {
  /** By holder. */
  private readonly values = new Map<string, ReversedValue>();
  /** Of corrections that share the value of another entry. */
  private readonly holders = new Map<string, string>();
  /** They are many. One that a correction names is kept among the others. */
  private readonly captures = new LastOnes<readonly UsedCredits[]>();
  /** Otherwise there may be entries from before. */
  private isWhole = false;

  /** @param used what the event took from grants @returns whether what it says of value follows from the book */
  see(event: Recorded<CreditsEvent>, used: readonly UsedCredits[]): boolean {
    switch (event.type) {
      case 'BookOpened':
        this.isWhole = true;
        return true;
      case 'CreditsCaptured':
        this.captures.set(event.id, used);
        return true;
      case 'PlanGranted':
      case 'PackPurchased':
      case 'GrantExpired':
        this.values.set(event.id, valueOf(event, used));
        return true;
      case 'CreditsReleased':
        if (used.length > 0) this.values.set(event.id, valueOf(event, used));
        return true;
      case 'CreditsAdjusted': {
        const of = this.named(event.data.reversesEventId);
        if (of) this.values.set(of.holder, corrected(of, event.data, used));
        if (sharesValue(of, event.data)) this.holders.set(event.id, of!.holder);
        else this.values.set(event.id, valueOf(event, used));
        return this.isRight(event, of);
      }
      default:
        return true;
    }
  }

  private named(eventId: string | null): ReversedValue | undefined {
    if (eventId === null) return undefined;
    const used = this.captures.get(eventId);
    return (
      this.values.get(this.holders.get(eventId) ?? eventId) ??
      (used && valueHeld(eventId, { as: 'earned', of: eventId }, null, used))
    );
  }

  private isRight(
    { data }: Recorded<CreditsEventOf<'CreditsAdjusted'>>,
    of: ReversedValue | undefined,
  ): boolean {
    const { reversesEventId, restores, counts } = data;
    const knowsAll = this.isWhole && !this.captures.hasForgotten;
    if (!of && reversesEventId !== null && !knowsAll) return true;
    return canonicalJson({ restores, counts }) === canonicalJson(movedBy(of, data));
  }
}
