export declare const suiteOf: (path: string) => 'unit' | 'integration' | 'e2e' | 'crash' | undefined;
export declare const specsOf: (suite: string | undefined) => string;
