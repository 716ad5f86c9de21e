type Sentence = (...parts: readonly string[]) => string;

const said = (texts: object): string[] =>
  Object.values(texts).flatMap((value: unknown) => {
    if (typeof value === 'function') return [(value as Sentence)('Janvier', '7', '7')];
    return typeof value === 'object' && value ? said(value) : [String(value)];
  });

/** French sentences that a line end may part from their mark, or a number from its unit: a no-break space is missing. */
export const partedMarks = (texts: object): readonly string[] =>
  said(texts).filter((text) => / [:;!?%»]|« |\d (s|Kio|jours|secondes|crédits)\b/.test(text));
