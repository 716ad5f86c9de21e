import { describe, expect, it } from '@jest/globals';
import { searchIn, type Hit } from './search.js';

const section = (title: string, text: string, page = 'Guide') => ({
  path: `/docs/${title}`,
  page,
  title,
  text,
  lang: 'en' as const,
});
const titles = (hits: readonly Hit[]): readonly string[] => hits.map((hit) => hit.section.title);

describe('The search of the documentation', () => {
  const search = searchIn([
    section('Retries', 'The service attempts a delivery ten times.'),
    section('Order', 'Retries keep the order of deliveries. Retries of one reading wait.'),
    section('Échec', 'Une lecture en échec libère ses crédits.', 'Démarrage'),
  ]);

  it('finds sections that have every word, the title first', () => {
    expect(titles(search('retries'))).toEqual(['Retries', 'Order']);
    expect(titles(search('RETRIES wait'))).toEqual(['Order']);
    expect(search('retries absent')).toEqual([]);
  });

  it('ignores accents and case, and shows the text as it is', () => {
    const [hit] = search('echec credits');
    expect(hit?.excerpt).toEqual(['Une lecture en ', 'échec', ' libère ses ', 'crédits', '.']);
  });

  it('finds nothing for nothing, and takes signs literally', () => {
    expect(search('  ')).toEqual([]);
    expect(search('.* (')).toEqual([]);
    expect(titles(searchIn([section('a', 'cost (20)')])('(20)'))).toEqual(['a']);
  });

  it('shows the text around the first word it found', () => {
    const long = searchIn([section('a', `${'before '.repeat(60)}needle ${'after '.repeat(60)}`)]);
    const text = long('needle')[0]!.excerpt.join('');
    expect(text).toMatch(/^… before .*needle after .* …$/);
    expect(text.length).toBeLessThan(250);
  });

  it('gives twenty sections at most', () => {
    const many = Array.from({ length: 50 }, (_, at) => section(`s${at}`, 'same'));
    expect(searchIn(many)('same')).toHaveLength(20);
  });
});
