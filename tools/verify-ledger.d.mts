/** Types for the specs. The file itself needs none. */
type Finding = Readonly<Record<'field' | 'revision' | 'message', string>> & { readonly line: number };
type MonthFinding = Omit<Finding, 'revision'> & { readonly file: string };
type Keys = ReadonlyMap<string, unknown>;
type Operators = ReadonlyMap<string, readonly unknown[]>;
interface Checked {
  readonly ok: boolean;
  /** Months whose seals the export agrees with. */
  readonly sealedPeriods: readonly string[];
  readonly setAside: readonly string[];
  readonly money: object | null;
  /** `null`: no signature was checked. */
  readonly corrections: object | null;
  readonly findings: readonly Finding[];
}
interface CheckedMonth {
  readonly result: {
    readonly ok: boolean;
    readonly books: number;
    readonly findings: readonly MonthFinding[];
  };
  readonly seals: readonly object[];
}
export declare const operatorsIn: (text: string) => Operators;
export declare const TERMS_SOLD: Readonly<Record<string, readonly object[]>>;
export declare const linesIn: (parts: Iterable<Uint8Array>) => Iterable<string>;
export declare const trustedKeys: (pems: readonly Uint8Array[], handovers?: readonly object[]) => Keys;
export declare const verifyExport: (
  lines: Iterable<string>,
  options?: { readonly month?: CheckedMonth; readonly keys?: Keys; readonly operators?: Operators | null },
) => Checked;
export declare const unreadableBecause: (
  facts: Readonly<Record<'type' | 'stream', string>> & { schemaVersion: number; data: unknown },
) => readonly [field: string, sentence: string] | null;
export declare const verifyMonth: (read: (name: string) => Uint8Array, keys: Keys) => CheckedMonth;
