import type {
  Block,
  Callout,
  Cell,
  Inline,
  NumberRef,
  Paragraph,
  Section,
  SectionRole,
  Table,
} from './document.js';

export const text = (value: string): Inline => ({ type: 'text', value });

export const strong = (children: readonly Inline[]): Inline => ({ type: 'strong', children });

export const cell = (content: string | Inline): Cell => [
  typeof content === 'string' ? text(content) : content,
];

export const numberRef = (ref: string, value: string): NumberRef => ({ type: 'numberRef', ref, value });

/** Joins sentences into one paragraph, separated by spaces. Adjacent texts become one node. */
export const sentences = (parts: readonly (readonly Inline[])[]): Inline[] => {
  const nodes: Inline[] = [];
  const add = (node: Inline): void => {
    const last = nodes.at(-1);
    if (last?.type === 'text' && node.type === 'text')
      nodes[nodes.length - 1] = text(last.value + node.value);
    else nodes.push(node);
  };
  parts.forEach((part, index) => {
    if (index > 0) add(text(' '));
    part.forEach(add);
  });
  return nodes;
};

export const paragraph = (
  id: string,
  children: readonly Inline[],
  variant: NonNullable<Paragraph['variant']> = 'body',
): Paragraph => ({ type: 'paragraph', id, variant, children });

/** A callout with one paragraph, whose id is `<id>.text`. */
export const callout = (
  id: string,
  variant: Callout['variant'],
  title: string,
  children: readonly Inline[],
): Callout => ({ type: 'callout', id, variant, title, children: [paragraph(`${id}.text`, children)] });

/** A bulleted list; a single item is a paragraph. */
export const list = (id: string, items: readonly (readonly Inline[])[]): Block => {
  const [only] = items;
  if (only && items.length === 1) return paragraph(id, only);
  return {
    type: 'list',
    id,
    ordered: false,
    children: items.map((children) => ({ type: 'listItem', children })),
  };
};

/** The same; without items, nothing. */
export const listUnlessEmpty = (id: string, items: readonly (readonly Inline[])[]): Block[] =>
  items.length === 0 ? [] : [list(id, items)];

export const table = (
  id: string,
  align: NonNullable<Table['align']>,
  head: readonly string[],
  rows: readonly (readonly (string | Inline)[])[],
): Table => ({
  type: 'table',
  id,
  align,
  head: head.map(cell),
  rows: rows.map((row) => row.map(cell)),
});

export const section = (
  id: string,
  role: SectionRole,
  title: string,
  children: readonly (Block | Section)[],
  refs: readonly string[] = [],
): Section => ({ type: 'section', id, role, title, ...(refs.length > 0 && { refs }), children });
