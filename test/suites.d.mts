export declare const suiteOf: (path: string) => 'unit' | 'integration' | 'e2e' | 'crash' | undefined;
export declare const specsOf: (suite: string | undefined) => string;
export const ONLY_EMBEDDED: Readonly<Record<string, string>>;
export const leftOut: (eventStoreCommand: string | undefined, say: (line: string) => void) => string[];
