import { describe, expect, it } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { TEXTS } from '../texts/texts.js';
import { Body } from './body.js';
import { ShownContext, type Shown } from './context.js';
import { formatsOf } from './formats.js';

const rendered = (text: string): string => {
  const visit = { texts: TEXTS.en, formats: formatsOf('en', 'UTC') };
  const value = { visit } as unknown as Shown;
  return renderToString(h(ShownContext.Provider, { value }, h(Body, { text })));
};

describe('the body of a message', () => {
  it('is shown in lines', () => {
    expect(rendered('{"id":"evt_1"}')).toContain('{\n  &quot;id&quot;: &quot;evt_1&quot;\n}');
  });

  it('is text, whatever it holds', () => {
    expect(rendered('<script>alert(1)</script>')).not.toContain('<script>');
  });

  it('is cut when it is long, with a word about it', () => {
    const html = rendered(JSON.stringify({ text: 'x'.repeat(5_000_000) }));
    expect(html.length).toBeLessThan(17_000);
    expect(html).toContain('Only 16,384 of 5,000,011 characters are shown.');
  });
});
