import { describe, expect, it } from '@jest/globals';
import { classify } from './classify.js';
import { StoreDamaged, StoreUnavailable } from './errors.js';
import { isDependencyAway } from './dependency-away.js';

describe('an error of the event store’s client', () => {
  it('that reports data loss is damage, named as the server names it, and no outage', () => {
    const said = 'The data file /data/data.mdb is damaged: the record at position 64.';
    const error = classify({ type: 'unknown', code: 15, message: 'unknown', _raw: { details: said } }, false);
    expect(error).toBeInstanceOf(StoreDamaged);
    expect((error as Error).message).toBe(said);
    expect(isDependencyAway(error)).toBe(false);
  });

  it('that reports an unavailable server is an outage', () => {
    expect(classify({ type: 'unavailable', code: 14, message: 'away' }, true)).toBeInstanceOf(
      StoreUnavailable,
    );
  });
});
