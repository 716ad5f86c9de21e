import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { API_KEY_SCOPES, SESSION_SCOPES } from '#platform/auth/scopes.js';
import { PROBLEMS } from '#platform/http/problem.js';
import { projectPath } from '#platform/project-path.js';
import { creditsEvents } from '#billing/contracts/index.js';
import { TEXTS } from './texts.js';

type Node = Readonly<Record<string, unknown>>;
/** Attributes that people read. */
const READ = new Set([
  'title',
  'label',
  'hint',
  'caption',
  'alt',
  'placeholder',
  'aria-label',
  'submit',
  'empty',
]);
/** Of requests that no page makes: the API says these to programs. */
const NEVER_TOLD = new Set([
  ...['unknown_parameter', 'malformed_json', 'unknown_product', 'unknown_profile', 'unauthenticated'],
  ...['batch_not_found', 'method_not_allowed', 'not_acceptable', 'link_expired', 'payload_too_large'],
  'unsupported_media_type',
]);
const WORD = /\p{L}{2}/u;

/** The text that heads a column or a fact: the first member of a list whose second one draws the value. */
const headIn = ({ type, elements }: Node): readonly string[] => {
  if (type !== 'ArrayExpression') return [];
  const [head, value] = (elements as readonly ({ readonly expression: Node } | null)[]).map(
    (one) => one?.expression,
  );
  const isDrawn = /^(ArrowFunction|JSX)/.test(String(value?.['type']));
  return isDrawn && head?.['type'] === 'StringLiteral' ? [String(head['value'])] : [];
};

/** Texts that a page says itself instead of the catalogue. */
const spokenIn = (source: string): string[] => {
  const found: string[] = [];
  const look = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(look);
    if (typeof node !== 'object' || node === null) return;
    const { type, value, name, key } = node as Node;
    if (type === 'JSXText' && WORD.test(String(value))) found.push(String(value).trim());
    const called = (name as Node | undefined)?.['value'] ?? (key as Node | undefined)?.['value'];
    const literal = value as Node | null | undefined;
    const said = literal?.['type'] === 'StringLiteral' ? (literal['value'] as string) : '';
    const isRead = (type === 'JSXAttribute' || type === 'KeyValueProperty') && READ.has(String(called));
    if (isRead && WORD.test(said)) found.push(said);
    found.push(...headIn(node as Node));
    Object.values(node).forEach(look);
  };
  look(parseSync(source, { syntax: 'typescript', tsx: true }));
  return found;
};

type Sentence = (...parts: readonly string[]) => string;

const said = (texts: object): string[] =>
  Object.values(texts).flatMap((value: unknown) => {
    if (typeof value === 'function') return [(value as Sentence)('Janvier', '7', '7')];
    return typeof value === 'object' && value ? said(value) : [String(value)];
  });

/** French sentences that a line end may part from their mark, or a number from its unit: a no-break space is missing. */
const partedMarks = (texts: object): readonly string[] =>
  said(texts).filter((text) => / [:;!?%»]|« |\d (s|Kio|jours|secondes|crédits)\b/.test(text));

const pages = readdirSync(projectPath('apps/portal/src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.tsx'))
  .map((file) => `apps/portal/src/${file}`);

describe('the texts of the portal', () => {
  it.each(pages)('%s has none of its own', (file) => {
    expect(spokenIn(readFileSync(projectPath(file), 'utf8'))).toEqual([]);
  });

  it('are sentences of their language, not copies of the other', () => {
    const sentences = (texts: object): string[] =>
      Object.values(texts).flatMap((value: unknown) =>
        typeof value === 'string' ? [value] : typeof value === 'object' && value ? sentences(value) : [],
      );
    const english = new Set(sentences(TEXTS.en).filter((text) => text.includes(' ')));
    expect(sentences(TEXTS.fr).filter((text) => english.has(text))).toEqual(['Reading Service']);
  });

  it('part no mark and no unit of a French sentence from its word', () => {
    expect(partedMarks(TEXTS.fr)).toEqual([]);
  });

  it('say every refusal that a page may get', () => {
    for (const { problems } of Object.values(TEXTS))
      expect(Object.keys(PROBLEMS).filter((code) => !NEVER_TOLD.has(code) && !(code in problems))).toEqual(
        [],
      );
  });

  it('name every scope and every movement of credits', () => {
    for (const texts of Object.values(TEXTS)) {
      expect(Object.keys(texts.scopes).toSorted()).toEqual([...SESSION_SCOPES].toSorted());
      expect(Object.keys(texts.movements).toSorted()).toEqual(
        Object.keys(creditsEvents.definitions).toSorted(),
      );
    }
    expect(SESSION_SCOPES).toEqual(expect.arrayContaining([...API_KEY_SCOPES]));
  });
});
