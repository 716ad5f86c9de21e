import { objectsOf, streamOf, TOKEN } from './pdf-file.js';

/**
 * Checks the clauses of PDF/UA-1 (ISO 14289-1) that show in the structure of a file, for PDFs of our own typesetter.
 * Only people can judge whether the reading order and the alternative texts make sense.
 */

/** Structure types of PDF 1.7 that our documents may use, with the allowed parents of each. */
const PARENTS: Readonly<Record<string, readonly string[] | 'any'>> = {
  Document: [],
  Part: 'any',
  Sect: 'any',
  Div: 'any',
  P: 'any',
  H1: 'any',
  H2: 'any',
  H3: 'any',
  Span: 'any',
  Link: 'any',
  Reference: 'any',
  Figure: 'any',
  Caption: ['Figure', 'Table', 'Div'],
  L: 'any',
  LI: ['L'],
  Lbl: ['LI', 'TOCI'],
  LBody: ['LI'],
  TOC: 'any',
  TOCI: ['TOC'],
  Table: 'any',
  THead: ['Table'],
  TBody: ['Table'],
  TFoot: ['Table'],
  TR: ['THead', 'TBody', 'TFoot', 'Table'],
  TH: ['TR'],
  TD: ['TR'],
};

const SHOWS_TEXT = new Set(['Tj', 'TJ', "'", '"']);
const PAINTS = new Set(['f', 'F', 'f*', 'B', 'B*', 'b', 'b*', 'S', 's', 'Do', 'sh']);

interface Element {
  readonly id: string;
  readonly type: string;
  readonly parent: string;
  readonly body: string;
  /** The entries of `/K`: elements, marked-content ids (numbers) and references to annotations. */
  readonly kids: readonly string[];
}

const referencesIn = (text: string): string[] =>
  [...text.matchAll(/(\d+) 0 R/g)].map(([, id]) => id as string);

/** The text of a bracketed value after a key, brackets balanced. */
const arrayAfter = (body: string, key: string): string => {
  const start = body.indexOf(`/${key} [`);
  if (start < 0) return '';
  let depth = 0;
  for (let index = body.indexOf('[', start); index < body.length; index += 1) {
    if (body[index] === '[') depth += 1;
    if (body[index] === ']') depth -= 1;
    if (depth === 0) return body.slice(body.indexOf('[', start) + 1, index);
  }
  return '';
};

/** The marked-content ids of a page, and how often it shows something outside marked content. */
const marksOf = (content: string): { ids: number[]; unmarked: number } => {
  const open: boolean[] = [];
  const ids: number[] = [];
  const operands: string[] = [];
  let unmarked = 0;
  for (const [token] of content.matchAll(TOKEN)) {
    if (/^[/(<\d.-]/.test(token)) {
      operands.push(token);
      continue;
    }
    if (token === 'BMC' || token === 'BDC') {
      const id = /\/MCID (\d+)/.exec(operands.join(' '))?.[1];
      if (id !== undefined) ids.push(Number(id));
      open.push(id !== undefined || operands[0] === '/Artifact');
    } else if (token === 'EMC') open.pop();
    else if ((SHOWS_TEXT.has(token) || PAINTS.has(token)) && !open.includes(true)) unmarked += 1;
    operands.length = 0;
  }
  return { ids, unmarked };
};

/** Violations of PDF/UA-1 in a file, by clause; empty when none was found. */
export const pdfUaFaults = (pdf: Uint8Array): string[] => {
  const objects = objectsOf(pdf);
  const bodies = [...objects.values()];
  const body = (id: string | undefined): string => objects.get(id ?? '') ?? '';
  const follow = (from: string, key: string): string =>
    body(new RegExp(`/${key} (\\d+) 0 R`).exec(from)?.[1]);
  const catalog = bodies.find((each) => each.includes('/Type /Catalog')) ?? '';
  const tree = follow(catalog, 'StructTreeRoot');
  const metadata = streamOf(follow(catalog, 'Metadata'));
  const elements: Element[] = [...objects].flatMap(([id, each]) =>
    each.includes('/Type /StructElem')
      ? [
          {
            id,
            type: /\/S \/(\w+)/.exec(each)?.[1] ?? '',
            parent: /\/P (\d+) 0 R/.exec(each)?.[1] ?? '',
            body: each,
            kids: referencesIn(arrayAfter(each, 'K').replace(/<<[\s\S]*?>>/g, '')),
          },
        ]
      : [],
  );
  const byId = new Map(elements.map((element) => [element.id, element]));
  const roles = new Map(
    [...(/\/RoleMap <<([\s\S]*?)>>/.exec(tree)?.[1] ?? '').matchAll(/\/(\w+) \/(\w+)/g)].map(
      ([, own = '', standard = '']) => [own, standard],
    ),
  );
  const standard = ({ type }: Element): string => roles.get(type) ?? type;
  const parentTree = new Map(
    [...arrayAfter(tree, 'Nums').matchAll(/(\d+) (\d+) 0 R/g)].map(([, key = '', id = '']) => [key, id]),
  );
  const pages = bodies.filter((each) => /\/Type \/Page\b(?!s)/.test(each));
  const annotations = bodies.filter((each) => each.includes('/Type /Annot'));
  const fonts = bodies.filter((each) => each.includes('/Type /FontDescriptor'));

  const inOrder = (element: Element): Element[] => [
    element,
    ...element.kids.flatMap((id) => {
      const kid = byId.get(id);
      return kid ? inOrder(kid) : [];
    }),
  ];
  const root = elements.find(({ type }) => type === 'Document');
  const levels = (root ? inOrder(root) : [])
    .map(({ type }) => /^H([1-6])$/.exec(type)?.[1])
    .filter((level) => level !== undefined)
    .map(Number);

  const faults: string[] = [];
  const expect = (clause: string, holds: boolean): void => void (holds || faults.push(clause));

  expect('5: the metadata claim part 1', metadata.includes('<pdfuaid:part>1</pdfuaid:part>'));
  expect('7.1: the file is marked, without suspects', /\/Marked true\s+\/Suspects false/.test(catalog));
  expect('7.1: the metadata have a title', /<dc:title>[\s\S]*?<rdf:li[^>]*>[^<]+</.test(metadata));
  expect('7.1: the title is shown', catalog.includes('/DisplayDocTitle true'));
  expect('7.2: the file has a language', /\/Lang \([a-z]{2}-[A-Z]{2}\)/.test(catalog));
  expect('7.16: nothing is encrypted', !bodies.some((each) => each.includes('/Encrypt')));
  expect('7.1: there is one root', elements.filter(({ type }) => type === 'Document').length === 1);
  for (const element of elements) {
    const allowed = PARENTS[standard(element)];
    const parent = byId.get(element.parent);
    const within = allowed === 'any' || (parent !== undefined && allowed?.includes(standard(parent)));
    expect(`7.1: ${element.type} has a standard type`, allowed !== undefined);
    expect(`7.2: ${element.type} stands in ${parent?.type ?? 'the root'}`, within || element === root);
    if (element !== root) expect('7.1: parent and child agree', parent?.kids.includes(element.id) === true);
  }
  expect('7.4.2: the first heading is of level 1', levels[0] === 1);
  levels.forEach((level, index) => {
    expect('7.4.2: no level is skipped', level <= (levels[index - 1] ?? 0) + 1);
  });
  for (const element of elements) {
    if (element.type === 'Figure')
      expect('7.3: a figure has an alternative text', /\/Alt [(<]./.test(element.body));
    if (element.type === 'TH') expect('7.5: a header cell has a scope', element.body.includes('/Scope /'));
    if (element.type === 'LI')
      expect(
        '7.6: an item has a label and a body',
        element.kids.map((id) => byId.get(id)?.type).join() === 'Lbl,LBody',
      );
  }
  for (const annotation of annotations) {
    expect('7.18.5: a link has a description', /\/Contents [(<]./.test(annotation));
    expect('7.18.1: a link is in the structure', annotation.includes('/StructParent '));
  }
  for (const page of pages) {
    const { ids, unmarked } = marksOf(streamOf(follow(page, 'Contents')));
    const owners = body(parentTree.get(/\/StructParents (\d+)/.exec(page)?.[1] ?? ''));
    expect('7.1: everything shown is content or artifact', unmarked === 0);
    expect(
      '7.1: every mark has its place in the structure',
      ids.every((id) => referencesIn(owners)[id]),
    );
    if (page.includes('/Annots')) expect('7.18.3: tabs follow the structure', page.includes('/Tabs /S'));
  }
  for (const font of fonts) expect('7.21.4: a font is embedded', /\/FontFile[23] \d+ 0 R/.test(font));
  for (const font of bodies.filter((each) => each.includes('/Subtype /Type0')))
    expect('7.21.7: a font maps to Unicode', font.includes('/ToUnicode '));
  return [...new Set(faults)];
};
