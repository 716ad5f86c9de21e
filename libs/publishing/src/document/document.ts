/**
 * `document_v1`: the one tree behind the three published formats (schema/document_v1.schema.json).
 * Node names follow mdast where mdast has the node. Section, callout, numberCard and figure are our own; each lowers to
 * mdast. The schema knows two kinds more, which no section composes. The tree describes what a thing is, never how it looks.
 */

export type Locale = 'fr-FR' | 'en-US';
export type GrammaticalGender = 'feminine' | 'masculine' | 'neutral';

export interface Text {
  readonly type: 'text';
  readonly value: string;
}

export interface Emphasis {
  readonly type: 'strong' | 'emphasis';
  readonly children: readonly Inline[];
}

/** A number of the reading, linked to its path in `result`; `numbers.lifePath` is printed as `13/4`, for example. */
export interface NumberRef {
  readonly type: 'numberRef';
  readonly ref: string;
  readonly value: string;
}

export type Inline = Text | Emphasis | NumberRef;

export interface Paragraph {
  readonly type: 'paragraph';
  readonly id: string;
  readonly variant?: 'body' | 'lead' | 'note';
  readonly children: readonly Inline[];
}

export interface List {
  readonly type: 'list';
  readonly id: string;
  readonly ordered: boolean;
  readonly children: readonly { readonly type: 'listItem'; readonly children: readonly Inline[] }[];
}

export interface Callout {
  readonly type: 'callout';
  readonly id: string;
  readonly variant: 'key' | 'practice' | 'question' | 'caution' | 'disclaimer';
  readonly title?: string;
  readonly children: readonly Block[];
}

export interface NumberCard {
  readonly type: 'numberCard';
  readonly id: string;
  readonly ref: string;
  readonly label: string;
  readonly value: string;
  readonly archetype?: string;
  readonly keywords?: readonly string[];
  readonly chain: readonly number[];
}

export type Cell = readonly Inline[];

export interface Table {
  readonly type: 'table';
  readonly id: string;
  readonly align?: readonly ('left' | 'center' | 'right')[];
  readonly head: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
}

/** The data of each figure: amounts only, no coordinates and no colours. */
export interface FigureData {
  /** Weight of each root 1–9 in the reading, in halves. */
  readonly numberWheel: {
    readonly weights: Readonly<Record<string, number>>;
    readonly dominant: readonly number[];
  };
  /** Letters of the name by value 1–9. */
  readonly inclusionGrid: {
    readonly counts: Readonly<Record<string, number>>;
    readonly lessons: readonly number[];
    readonly passion: readonly number[];
  };
  /** Bars in years; `to` is null for a span with no end. `birthYear`, `asOfYear` are calendar years. */
  readonly lifeTimeline: {
    readonly birthYear: number;
    readonly asOfYear: number;
    readonly rows: readonly {
      readonly label: string;
      readonly spans: readonly {
        readonly value: string;
        readonly from: number;
        readonly to: number | null;
      }[];
    }[];
  };
  /** Nine consecutive calendar years with their personal year. */
  readonly nineYearCycle: {
    readonly years: readonly { readonly year: number; readonly value: number; readonly current: boolean }[];
  };
  /** Letters of the name on each plane, in the fixed order physical, mental, emotional, intuitive. */
  readonly planeBars: {
    readonly bars: readonly {
      readonly plane: 'physical' | 'mental' | 'emotional' | 'intuitive';
      readonly label: string;
      readonly count: number;
    }[];
  };
  /** The folded letters of each word with their value 1–9 and their role. */
  readonly letterStrip: {
    readonly words: readonly (readonly {
      readonly letter: string;
      readonly value: number;
      readonly vowel: boolean;
    }[])[];
  };
}

export type FigureKind = keyof FigureData;

interface FigureOf<Kind extends FigureKind> {
  readonly type: 'figure';
  readonly id: string;
  readonly kind: Kind;
  readonly data: FigureData[Kind];
  readonly caption?: string;
  /** Alternative text: what the drawing shows. */
  readonly alt: string;
  /** The same content as text, for formats that cannot draw. */
  readonly fallback: readonly (Table | List | Paragraph)[];
}

export type Figure = { [Kind in FigureKind]: FigureOf<Kind> }[FigureKind];

export type Block = Paragraph | List | Callout | NumberCard | Table | Figure;

export type SectionRole =
  | 'opening'
  | 'overview'
  | 'path'
  | 'name'
  | 'grid'
  | 'cycles'
  | 'year'
  | 'synthesis'
  | 'method'
  | 'notice'
  | 'subsection';

export interface Section {
  readonly type: 'section';
  /** Stable content key, unique in the document, e.g. `path.day`. */
  readonly id: string;
  readonly role: SectionRole;
  readonly title: string;
  /** Paths in `result` that this section comments on, e.g. `numbers.lifePath`. */
  readonly refs?: readonly string[];
  readonly children: readonly (Block | Section)[];
}

export interface DocumentMeta {
  readonly readingId: string;
  readonly productId: 'theme';
  readonly profileId: 'evan';
  readonly method: string;
  readonly engineVersion: string;
  readonly contentVersion: string;
  /** Publication counter of the reading, from 1. */
  readonly documentVersion: number;
  readonly asOf: string;
  /** RFC 3339, UTC. */
  readonly publishedAt: string;
  /** Words of the document's text, numbers included. */
  readonly wordCount: number;
  readonly subject: {
    readonly displayName: string;
    readonly dateOfBirth: string;
    readonly subjectGender: GrammaticalGender;
  };
}

export interface DocumentV1 {
  readonly type: 'document';
  readonly schemaVersion: '1.0';
  readonly locale: Locale;
  /** Only in the document of a test reading, which every format marks. */
  readonly livemode?: false;
  readonly title: string;
  readonly subtitle: string;
  /** Short facts printed under the title: birth, date of the reading. */
  readonly details: readonly string[];
  readonly meta: DocumentMeta;
  readonly children: readonly Section[];
}
