import { describe, expect, it } from '@jest/globals';
import { h, type ComponentChildren } from 'preact';
import { rendered, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { refusedField } from './api.js';
import { Checks, PostForm, Text } from './forms.js';
import { Form, readForm } from './page.js';
import { Body } from './parts.js';

const failed = (action: string, about = '') => ({
  form: new Form(new URLSearchParams({ action, about, key: 'k1', url: 'http://typed', events: 'b' })),
  refused: refusedField('/url', 'invalid_value'),
});

const url = h(Text, { name: 'url', label: 'URL', hint: 'Where', value: 'http://before' });
const events = h(Checks, {
  name: 'events',
  label: 'Events',
  values: ['a'],
  options: [
    ['a', 'A'],
    ['b', 'B'],
  ],
});
const save = (about: string): ComponentChildren =>
  h(PostForm, { action: 'save', about, submit: 'Save', children: [url, events] });

it('shows a refused form with what was typed, and tells a screen reader what is wrong and why', () => {
  const html = rendered(visitTo({}), save('one'), failed('save', 'one'));
  expect(html).toContain('role="alert"');
  expect(html).toContain('value="http://typed"');
  expect(html).toContain('aria-invalid="true" aria-describedby="url-hint url-error"');
  expect(html).toContain(`id="url-error">${TEXTS.en.fieldErrors.invalid_value}<`);
  expect(html).toMatch(/value="b" checked/);
  expect(html).not.toMatch(/value="a" checked/);
});

it('leaves the other forms of its page as they are', () => {
  for (const refused of [failed('remove', 'one'), failed('save', 'two')]) {
    const html = rendered(visitTo({}), save('one'), refused);
    expect(html).not.toContain('role="alert"');
    expect(html).toContain('value="http://before"');
    expect(html).toContain('aria-describedby="url-hint"');
    expect(html).not.toContain('aria-invalid');
    expect(html).toMatch(/value="a" checked/);
  }
});

const read = (body: string) => readForm(Buffer.from(body), 'application/x-www-form-urlencoded');

it('A form has at most 100 fields: the page that shows it again has an element for each', () => {
  expect(read(`action=issue${'&a'.repeat(99)}`)?.action).toBe('issue');
  expect(read(`action=issue${'&a'.repeat(100)}`)).toBeNull();
});

const shown = (text: string, hides = false): string => rendered(visitTo({}), h(Body, { text, hides }));

describe('the body of a message', () => {
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
