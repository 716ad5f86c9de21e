import { expect, it } from '@jest/globals';
import { h, type ComponentChildren } from 'preact';
import { rendered, visitTo } from '../testing/show.js';
import { TEXTS } from '../texts/texts.js';
import { refusedField } from './api.js';
import { Form } from './form.js';
import { Checks, Filters, PostForm, Text } from './forms.js';

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

it('leaves filters of its page as the address has them', () => {
  const html = rendered(visitTo({}), h(Filters, { children: url }), failed('save'));
  expect(html).toContain('value="http://before"');
  expect(html).not.toContain('aria-invalid');
});
