import { describe, expect, it } from '@jest/globals';
import { categoryOf, streamId, streamName } from './stream-name.js';

describe('stream names', () => {
  it('split at the first hyphen, so that ids may contain hyphens', () => {
    const name = streamName('reading', '0a1b-2c3d');
    expect(name).toBe('reading-0a1b-2c3d');
    expect(categoryOf(name)).toBe('reading');
    expect(streamId(name)).toBe('0a1b-2c3d');
  });

  it('refuse a category with a hyphen, an empty one, and an empty id', () => {
    expect(() => streamName('web-hook', '1')).toThrow(TypeError);
    expect(() => streamName('', '1')).toThrow(TypeError);
    expect(() => streamName('reading', '')).toThrow(TypeError);
  });

  it('without a hyphen consist of the category only', () => {
    expect(categoryOf('reading')).toBe('reading');
    expect(streamId('reading')).toBe('');
  });
});
