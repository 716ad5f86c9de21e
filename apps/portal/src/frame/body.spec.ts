import { describe, expect, it } from '@jest/globals';
import { h } from 'preact';
import { rendered, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { Body } from './body.js';

const shown = (text: string, hides = false): string => rendered(visitTo({}), h(Body, { text, hides }));

describe('the body of a message', () => {
  it('is shown in lines', () => {
    expect(shown('{"id":"evt_1"}')).toContain('{\n  &quot;id&quot;: &quot;evt_1&quot;\n}');
  });

  it('is text, whatever it holds', () => {
    expect(shown('<script>alert(1)</script>')).not.toContain('<script>');
  });

  it('is cut when it is long, with a word about it', () => {
    const html = shown(JSON.stringify({ text: 'x'.repeat(5_000_000) }));
    expect(html.length).toBeLessThan(17_000);
    expect(html).toContain('Only 16,384 of 5,000,011 characters are shown.');
  });

  it('says when the session sees null in place of what deliveries carry', () => {
    expect(shown('{"externalId":null}', true)).toContain(TEXTS.en.event.hidden);
    expect(shown('{"externalId":null}')).not.toContain(TEXTS.en.event.hidden);
  });
});
