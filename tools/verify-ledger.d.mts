/** Types for the specs. The file itself needs none. */
interface Finding {
  readonly line: number;
  readonly field: string;
  readonly revision: string;
  readonly message: string;
}
interface Checked {
  readonly ok: boolean;
  /** Months whose seals the export agrees with. */
  readonly sealedPeriods: readonly string[];
  readonly setAside: readonly string[];
  readonly money: object | null;
  /** `null`: no signature was checked. */
  readonly corrections: {
    readonly checked: number;
    /** Entries that no operator signs, because a document failed. */
    readonly refunds: number;
    readonly compensated: readonly {
      readonly revision: string;
      readonly message: string;
      readonly by: string;
    }[];
  } | null;
  readonly findings: readonly Finding[];
}
type Keys = ReadonlyMap<string, unknown>;
type Operators = ReadonlyMap<string, readonly unknown[]>;
interface CheckedMonth {
  readonly result: {
    readonly ok: boolean;
    readonly books: number;
    readonly findings: readonly MonthFinding[];
  };
  readonly seals: readonly object[];
}
interface Options {
  /** As `verifyMonth` answers. */
  readonly month?: CheckedMonth;
  readonly keys?: Keys;
  readonly operators?: Operators | null;
}
/** @throws Error for a text that is no setting OPERATORS */
export declare const operatorsIn: (text: string) => Operators;
/** All terms on which each plan and pack was ever sold. */
export declare const TERMS_SOLD: Readonly<
  Record<string, readonly { readonly credits: number; readonly priceCents: number }[]>
>;
export declare const linesIn: (parts: Iterable<Uint8Array>) => Iterable<string>;
export declare const trustedKeys: (pems: readonly Uint8Array[], handovers?: readonly object[]) => Keys;
export declare const verifyExport: (lines: Iterable<string>, options?: Options) => Checked;
/** Why an event of a book cannot be read: its member and a sentence. */
export declare const unreadableBecause: (facts: {
  readonly type: string;
  readonly schemaVersion: number;
  readonly stream: string;
  readonly data: unknown;
}) => readonly [field: string, sentence: string] | null;
interface MonthFinding extends Omit<Finding, 'revision'> {
  readonly file: string;
}
export declare const verifyMonth: (read: (name: string) => Uint8Array, keys: Keys) => CheckedMonth;
